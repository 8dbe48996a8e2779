CREATE TABLE dbo.a (id int, [b c] int, d int)
CREATE TABLE bare (id int)
GO
CREATE VIEW dbo.v AS SELECT id FROM bare
GO
sp_addextendedproperty 'qgen', 'queue a', 'SCHEMA', 'dbo', 'TABLE', 'a'
EXEC sp_addextendedproperty N'qgen', N'qgen:id', N'SCHEMA', N'dbo', N'TABLE', N'A', N'COLUMN', N'ID'
EXEC sys.sp_addextendedproperty @name = 'MS_Description', @value = N'free text', @level0type = 'SCHEMA', @level0name = [dbo], @level1type = 'TABLE', @level1name = a
EXEC [sys].[sp_addextendedproperty] 'Caption', 'qgen:topic', SCHEMA, dbo, TABLE, a, COLUMN, [b c]
EXEC sp_addextendedproperty 'Caption', 'nothing of ours', 'SCHEMA', 'dbo', 'TABLE', 'a', 'COLUMN', 'd'
EXEC sp_addextendedproperty 'MS_Description', 'gone; qgen:due', 'SCHEMA', 'dbo', 'TABLE', 'a', 'COLUMN', 'd'
EXEC sp_updateextendedproperty 'ms_description', 'changed; qgen:lease', 'SCHEMA', 'dbo', 'TABLE', 'a', 'COLUMN', 'd'
EXEC sp_addextendedproperty 'Extra', 'qgen:worker', 'SCHEMA', 'dbo', 'TABLE', 'a', 'COLUMN', 'd'
EXEC sp_dropextendedproperty 'extra', 'SCHEMA', 'dbo', 'TABLE', 'a', 'COLUMN', 'd'
EXEC sp_dropextendedproperty @name = 'none', @level0type = 'SCHEMA', @level0name = 'dbo', @level1type = 'TABLE', @level1name = 'a'
EXEC sp_addextendedproperty 'qgen', 'qgen:queue bare', 'user', 'dbo', 'table', 'bare'
EXEC sp_addextendedproperty 'qgen', 'queue v', 'SCHEMA', 'dbo', 'VIEW', 'v'
EXEC sp_addextendedproperty 'qgen', 'id', 'SCHEMA', 'dbo', 'VIEW', 'v', 'COLUMN', 'id'
EXEC sp_addextendedproperty 'qgen', 'queue none', 'SCHEMA', 'dbo', 'TABLE', 'none'
EXEC sp_addextendedproperty 'qgen', 'id', 'SCHEMA', 'dbo', 'TABLE', 'a', 'COLUMN', 'none'
EXEC sp_addextendedproperty 'qgen', 'queue', 'SCHEMA', 'dbo', 'TABLE', 'a', 'INDEX', 'i'
EXEC sp_addextendedproperty 'qgen', 'queue of all'
EXEC sp_addextendedproperty 'MS_Description', 'a database'
EXEC sp_addextendedproperty 'qgen', @value, 'SCHEMA', 'dbo', 'TABLE', 'a'
EXEC sp_addextendedproperty @name, 'qgen:status', 'SCHEMA', 'dbo', 'TABLE', 'a'
EXEC sp_addextendedproperty 'qgen', NULL, 'SCHEMA', 'dbo', 'TABLE', NULL
EXEC sp_addextendedproperty @value = N'where "it''s = ''x''"', @name = N'qgen', @level0type = N'SCHEMA', @level0name = N'dbo', @level1type = N'TABLE', @level1name = N'bare', @level2type = N'COLUMN', @level2name = N'id', @more = 1
