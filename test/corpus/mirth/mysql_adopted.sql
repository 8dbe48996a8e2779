-- The index that qgen advised, as its owner made it. Without its name in the claim MySQL may read
-- by another and sort: a worker that holds two rows of three then keeps the third from all others.
ALTER TABLE D_MM7 ADD INDEX D_MM7_messages_ready (STATUS, ID, SERVER_ID, MESSAGE_ID);
