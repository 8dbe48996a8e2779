package schema

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/qgen-dev/qgen/internal/source"
)

// Semicolons, line breaks and GO between statements change nothing of what they
// say.
func TestStatementsNeedNothingBetween(t *testing.T) {
	pieces := []string{
		"CREATE TABLE %s (id int NOT NULL, state char(1) CHECK (state IN ('a', 'b')) CONSTRAINT df_%[1]s DEFAULT 'a') WITH (DATA_COMPRESSION = PAGE)",
		"CREATE TABLE %s (id int PRIMARY KEY, state AS CASE id WHEN 1 THEN 2 ELSE 3 END) ON [PRIMARY]",
		"CREATE TABLE %s (id int REFERENCES a (b) ON DELETE CASCADE ON UPDATE SET NULL, state int)",
		"ALTER TABLE %s ADD more int, CONSTRAINT fk_%[1]s FOREIGN KEY (id) REFERENCES x (y) ON UPDATE SET DEFAULT ON DELETE NO ACTION",
		"ALTER TABLE dbo.%s ADD [select] AS CASE WHEN id > 1 THEN 'x' END PERSISTED NOT NULL",
		"ALTER TABLE [%s] ALTER COLUMN state nvarchar(9) NOT NULL",
		"ALTER TABLE %s DROP CONSTRAINT IF EXISTS df_%[1]s",
		"ALTER TABLE %s SET (LOCK_ESCALATION = DISABLE)",
		"ALTER TABLE x..%s DISABLE TRIGGER ALL",
		"CREATE UNIQUE INDEX i ON %s (id DESC, state) INCLUDE (more) WHERE state = 'a' AND id > 5 WITH (ONLINE = ON) ON [PRIMARY]",
		"CREATE INDEX j ON %s (state)", "DROP INDEX IF EXISTS j ON %s", "ALTER INDEX j ON %s SET (ALLOW_ROW_LOCKS = OFF)",
		"EXEC sp_rename '%s.id', 'key', 'COLUMN'", "EXECUTE sys.sp_addextendedproperty 'qgen', 'queue', 'SCHEMA', 'dbo', 'TABLE', '%s'",
		"DISABLE TRIGGER ALL ON %s", "DROP TABLE IF EXISTS %s",
		// What says nothing of tables.
		"SELECT id FROM %s", "INSERT INTO %s (id) SELECT 1", "UPDATE %s SET id = 2 OUTPUT inserted.id WHERE id = 1", "DELETE FROM %s", "SET NOCOUNT ON",
		"DECLARE @%s int = 5", "PRINT '%s'", "GRANT CREATE TABLE, SELECT, ALTER ANY SCHEMA TO %s", "UPDATE STATISTICS %s", "TRUNCATE TABLE %s",
		"BEGIN TRAN", "COMMIT", "IF EXISTS (SELECT 1 FROM %s) PRINT 'x' ELSE PRINT 'y'", "EXEC ('CREATE TABLE %s (never int)')",
		"DECLARE c CURSOR FOR SELECT 1 FOR UPDATE", "REVOKE GRANT OPTION FOR DELETE ON %s FROM x", "WHILE 1 = 0 BREAK",
	}
	rapid.Check(t, func(t *rapid.T) {
		statements := rapid.SliceOfN(rapid.SampledFrom(pieces), 2, 9).Draw(t, "statements")
		names := rapid.SliceOfN(rapid.SampledFrom([]string{"one", "two"}), len(statements), len(statements)).Draw(t, "names")
		between := rapid.SampledFrom([]string{"\n", " ", ";\n", ";", " /* x */ ", "\n-- x\n", "\ngo\n", "\r\nGO 1\r\n"})
		var plain, mixed strings.Builder
		for i, s := range statements {
			if strings.Contains(s, "%") {
				s = fmt.Sprintf(s, names[i])
			}
			plain.WriteString(s + "\nGO\n")
			mixed.WriteString(s + between.Draw(t, "between"))
		}
		want, wantErrs := readText(t, "mssql", plain.String())
		got, errs := readText(t, "mssql", mixed.String())
		// Comments are of no interest here, and places are others.
		for _, c := range []*Catalog{want, got} {
			for _, table := range c.Tables {
				table.Gaps, table.Comments = nil, nil
				for _, column := range table.Columns {
					column.Comments = nil
				}
			}
			c.Loose = nil
		}
		if g, w := dump(got, expressions), dump(want, expressions); g != w || errs.Len() != wantErrs.Len() {
			t.Fatalf("from\n%s\ncomes\n%s%v\nwant\n%s%v", mixed.String(), g, errs.Err(), w, wantErrs.Err())
		}
	})
}

// What SSMS makes of a script says what the script does.
func TestSSMSReadsLikeItsSource(t *testing.T) {
	for _, pair := range [][2]string{
		{
			`CREATE TABLE dbo.jobs (
				id bigint IDENTITY CONSTRAINT pk PRIMARY KEY, state char(1) NOT NULL CONSTRAINT df DEFAULT ('N') CONSTRAINT ck CHECK (state IN ('N', 'A')),
				due datetime2 NULL, body nvarchar(max) NOT NULL CONSTRAINT json CHECK (ISJSON(body) = 1), INDEX ready (state, due DESC) WHERE state = 'N'
			)`,
			`CREATE TABLE [dbo].[jobs](
	[id] [bigint] IDENTITY(1,1) NOT NULL,
	[state] [char](1) NOT NULL,
	[due] [datetime2](7) NULL,
	[body] [nvarchar](max) NOT NULL,
 CONSTRAINT [pk] PRIMARY KEY CLUSTERED 
(
	[id] ASC
)WITH (PAD_INDEX = OFF, ALLOW_ROW_LOCKS = ON, ALLOW_PAGE_LOCKS = ON) ON [PRIMARY]
) ON [PRIMARY] TEXTIMAGE_ON [PRIMARY]
GO
CREATE NONCLUSTERED INDEX [ready] ON [dbo].[jobs]
(
	[state] ASC,
	[due] DESC
)
WHERE ([state]='N')
WITH (PAD_INDEX = OFF, DROP_EXISTING = OFF) ON [PRIMARY]
GO
ALTER TABLE [dbo].[jobs] ADD  CONSTRAINT [df]  DEFAULT ('N') FOR [state]
GO
ALTER TABLE [dbo].[jobs]  WITH CHECK ADD  CONSTRAINT [ck] CHECK  (([state]='N' OR [state]='A'))
GO
ALTER TABLE [dbo].[jobs] CHECK CONSTRAINT [ck]
GO
ALTER TABLE [dbo].[jobs]  WITH CHECK ADD  CONSTRAINT [json] CHECK  ((isjson([body])=(1)))
GO
`,
		},
	} {
		var texts []string
		for _, sql := range pair {
			c, errs := readText(t, "mssql", sql)
			if errs.Len() > 0 || len(c.Tables) != 1 || len(c.Unread) > 0 {
				t.Fatalf("%v from\n%s", errs.Err(), sql)
			}
			texts = append(texts, dump(c, facts))
		}
		if texts[0] != texts[1] {
			t.Errorf("SSMS says\n%s\nits source\n%s", texts[1], texts[0])
		}
	}
}

// A statement that is not read hides nothing of those behind it, whatever stands
// open in it.
func TestBrokenStatementHidesNothing(t *testing.T) {
	for _, broken := range []string{
		"CREATE TABLE broken (id int, (", "CREATE TABLE broken (id int CHECK (CASE WHEN 1", "CREATE TABLE broken (id int))))", "ALTER TABLE broken ADD (",
		"SELECT CASE", "SELECT (", "IF (", "BEGIN BEGIN BEGIN", "END END END", "ELSE", "CREATE", "CREATE VIEW broken AS SELECT (", "EXEC (", ")", "CASE",
	} {
		for _, between := range []string{"\n", ";\n", "\nGO\n"} {
			if strings.Contains(broken, "CASE") && between == "\n" {
				continue // goes on to the END of something
			}
			c, _ := readText(t, "mssql", broken+between+"CREATE TABLE behind (id int)")
			if !slices.ContainsFunc(c.Tables, func(t *Table) bool { return t.Name == "behind" && len(t.Columns) == 1 }) {
				t.Errorf("nothing is read behind %q and %q", broken, between)
			}
		}
	}
}

// Who stands under an IF may say again what is there already.
func TestGuarded(t *testing.T) {
	const src = "IF 1 = 1 BEGIN a BEGIN TRAN IF 2 = 2 CREATE b ELSE IF 3 = 3 BEGIN EXEC c END COMMIT END EXEC d WHILE 1 = 1 EXEC e BEGIN TRY EXEC f END TRY; IF 4 = 4\nGO\nEXEC g"
	var got []string
	for _, st := range scan(source.NewFile("f", []byte(src)), mssqlLexis).statements {
		if last := st.text(len(st.tokens) - 1); len(last) == 1 && last != "4" && last[0] >= 'a' {
			got = append(got, fmt.Sprintf("%s:%v", last, st.guarded))
		}
	}
	if s, want := strings.Join(got, " "), "a:true b:true c:true d:false e:true f:false g:false"; s != want {
		t.Errorf("got %s, want %s", s, want)
	}
}

// What SQL Server takes is taken, and what it does not take is refused for its
// reason.
func TestCheckMSSQL(t *testing.T) { checkSamples(t, "mssql") }

// What is nested without end is refused before the stack is.
func TestCheckMSSQLNesting(t *testing.T) {
	const n = 100_000
	for name, sql := range map[string]string{
		"parentheses": "SELECT " + strings.Repeat("(", n) + "1" + strings.Repeat(")", n),
		"queries":     "SELECT 1 FROM " + strings.Repeat("(SELECT 1 FROM ", n) + "t" + strings.Repeat(") x", n),
		"cases":       "SELECT " + strings.Repeat("CASE WHEN 1 = 1 THEN ", n) + "1" + strings.Repeat(" END", n),
		"blocks":      strings.Repeat("BEGIN ", n) + "SELECT 1;" + strings.Repeat(" END", n),
		"ifs":         strings.Repeat("IF 1 = 1 ", n) + "SELECT 1",
		"procedures":  strings.Repeat("CREATE PROCEDURE p AS ", n) + "SELECT 1",
		"operators":   "SELECT 1" + strings.Repeat(" + 1", n),
	} {
		if err := Check("mssql", sql); err == nil {
			t.Errorf("%s are taken", name)
		}
	}
}

// Whatever stands in a statement, the check comes to an end.
func FuzzCheckMSSQL(f *testing.F) {
	for _, name := range []string{"good.sql", "bad.sql"} {
		for _, file := range readFiles(f, "testdata/mssql/check/"+name) {
			f.Add(string(file.Data))
		}
	}
	f.Fuzz(func(_ *testing.T, sql string) { _ = Check("mssql", sql) })
}
