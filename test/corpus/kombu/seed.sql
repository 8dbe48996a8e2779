-- The queue that the test's messages belong to.
INSERT INTO kombu_queue (id, name) VALUES (1, 'celery');
