CREATE TABLE "D_MM7" (id bigint PRIMARY KEY, state text NOT NULL);
CREATE INDEX "D_MM7_state" ON "D_MM7" (state);
CREATE TABLE app.d_mc7 (id bigint PRIMARY KEY, body text);
