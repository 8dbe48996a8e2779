-- Texts of one byte a character, and collations that need not be the database's.
CREATE TABLE [dbo].[messages] (
    [message_key] [nvarchar] (100) COLLATE Latin1_General_BIN2 NOT NULL,
    [part] [varchar] (8) COLLATE Latin1_General_BIN2 NOT NULL,
    [owner] [varchar] (50) COLLATE Modern_Spanish_CI_AS NULL,     -- qgen:worker
    [topic] [varchar] (50) COLLATE Modern_Spanish_CI_AS NOT NULL, -- qgen:topic list
    [tenant] [uniqueidentifier] NOT NULL,                         -- qgen:topic list
    [site] [varchar] (20) NOT NULL,                               -- qgen:topic not
    [locked_until] [datetime2] (3) NULL,                          -- qgen:lease length=30s expired=claim clock=utc
    [body] [nvarchar] (max) COLLATE Modern_Spanish_CI_AS NOT NULL,
    CONSTRAINT [pk_messages] PRIMARY KEY CLUSTERED ([message_key], [part])
) ON [PRIMARY];
