-- The index that qgen advised, as its owner made it. Without its name in the claim MySQL reads by
-- the key and sorts: a worker that holds two rows of three then keeps the third from all others.
ALTER TABLE INT_CHANNEL_MESSAGE ADD INDEX INT_CHANNEL_MESSAGE_channel_ready (GROUP_KEY, REGION, MESSAGE_PRIORITY DESC, CREATED_DATE, MESSAGE_SEQUENCE);
