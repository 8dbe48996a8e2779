-- qgen:queue
CREATE TABLE "runnerJob" (
    id            bigserial PRIMARY KEY,
    state         int NOT NULL, -- qgen:status ready=1 running=2 done=3 done~"{row}.state >= 4"
    "processedBy" text          -- qgen:worker
);
CREATE TABLE "jobTotals" (kind text NOT NULL, "jobCount" int NOT NULL);
