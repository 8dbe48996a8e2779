CREATE TYPE oban_job_state AS ENUM ('available', 'scheduled', 'executing', 'retryable', 'completed', 'discarded', 'cancelled');
-- qgen:queue
CREATE TABLE oban_jobs (
  id           bigserial PRIMARY KEY,
  state        oban_job_state DEFAULT 'available' NOT NULL, -- qgen:status ready=available|scheduled|retryable running=executing done=completed failed=discarded; on retry set retryable
  queue        text DEFAULT 'default' NOT NULL, -- qgen:topic
  worker       text NOT NULL,
  args         jsonb DEFAULT '{}' NOT NULL,
  errors       jsonb[] DEFAULT ARRAY[]::jsonb[] NOT NULL, -- qgen:error append
  attempt      integer DEFAULT 0 NOT NULL, -- qgen:attempts up on=claim max=max_attempts
  max_attempts integer DEFAULT 20 NOT NULL,
  inserted_at  timestamp DEFAULT timezone('UTC', now()) NOT NULL, -- qgen:enqueued clock=utc
  scheduled_at timestamp DEFAULT timezone('UTC', now()) NOT NULL, -- qgen:due clock=utc; order 1
  attempted_at timestamp, -- qgen:claimed clock=utc timeout=1h
  completed_at timestamp, -- qgen:finished clock=utc
  discarded_at timestamp, -- qgen:on fail set now clock=utc
  cancelled_at timestamp, -- qgen:on fail set null; on giveup set now clock=utc
  priority     integer DEFAULT 0 NOT NULL, -- qgen:priority asc
  tags         text[] DEFAULT ARRAY[]::text[]
);
