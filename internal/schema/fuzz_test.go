package schema

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/qgen-dev/qgen/internal/source"
)

func FuzzPostgreSQL(f *testing.F) { fuzz(f, "postgresql") }

func FuzzMySQL(f *testing.F) { fuzz(f, "mysql") }

func FuzzMariaDB(f *testing.F) { fuzz(f, "mariadb") }

func FuzzMSSQL(f *testing.F) { fuzz(f, "mssql") }

func FuzzOracle(f *testing.F) { fuzz(f, "oracle") }

func FuzzSQLite(f *testing.F) { fuzz(f, "sqlite") }

func FuzzCockroachDB(f *testing.F) { fuzz(f, "cockroachdb") }

func FuzzYugabyteDB(f *testing.F) { fuzz(f, "yugabytedb") }

// fuzz reads any bytes: nothing may panic, everything stands inside the file,
// and nothing that looks like an annotation gets lost without a word.
func fuzz(f *testing.F, grammar string) {
	for _, g := range Grammars() {
		paths, err := filepath.Glob(filepath.Join("testdata", g, "*.sql"))
		if err != nil || g == grammar && len(paths) == 0 {
			f.Fatal("no seeds", err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
			// Whole dumps are too long to change; their statements are not.
			for part := range strings.SplitSeq(string(data), ";\n") {
				f.Add([]byte(part + ";\n"))
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var errs source.ErrorList
		c, err := Read(grammar, []*source.File{source.NewFile("fuzz.sql", data)}, &errs)
		if err != nil {
			t.Fatal(err)
		}
		checkPlaces(t, c, &errs)
		if s := errs.Detail(); errs.Len() > 0 && s == "" {
			t.Error("complaints without text")
		}
	})
}

// GO ends a statement where it stands alone on its line, but for a comment.
func TestScanBatches(t *testing.T) {
	const src = "\ufeffgo\nCREATE TABLE [a]]b] (\n  go int,\n  [GO] int DEFAULT 'x\nGO\n' /* \nGO */\n)\r\n  Go 12 \r\nSELECT 1 -- GO\nGO;\nGO1\nGO\nEXEC x\nGO -- y\nEXEC z\nGO 2 /* y */\nGO#\nEXEC w"
	var got []string
	for _, st := range scan(source.NewFile("f", []byte(src)), mssqlLexis).statements {
		got = append(got, fmt.Sprintf("%d:%q", st.pos(0).Line(), unquote(st.text(2))+" "+strings.Join(strings.Fields(st.sql()), " ")))
	}
	want := `2:"a]b CREATE TABLE [a]]b] ( go int, [GO] int DEFAULT 'x GO ' )" 10:"GO SELECT 1 GO" 12:" GO1" 14:" EXEC x" 16:" EXEC z" 18:" GO#" 19:" EXEC w"`
	if s := strings.Join(got, " "); s != want {
		t.Errorf("got\n%s\nwant\n%s", s, want)
	}
}

// Tokens and comments tile the file: they stand in order, do not overlap, and
// leave out nothing but blanks and what is meant for a client.
func TestScanTiles(t *testing.T) {
	for _, lex := range []lexis{postgresqlLexis, sqliteLexis, mysqlGrammar.lexis, mariadbGrammar.lexis, oracleLexis, statementLexis, mssqlLexis} {
		rapid.Check(t, func(t *rapid.T) {
			pieces := rapid.SliceOf(rapid.OneOf(
				rapid.SampledFrom([]string{
					"a", " ", "\n", "'", "''", `"`, "[", "]", "`", "$", "$$", "$a$", "--", "/*", "*/", ";", "(", ")", `\`, "E'", `\'`,
					"CREATE TRIGGER t BEGIN ", "END", "CREATE FUNCTION BEGIN ATOMIC", "::", "1e-5", "0x", "U&\"", ".", "\r\n", "COPY t FROM stdin;\n", `\.`,
					"-- +goose Down\n", "-- +goose Up\n", "\x00", "\ufeff", "é",
					"/*!", "/*!50100 ", "/*M!100100", "/*T![a] ", "/*!999999\\-", "#", "delimiter ;;\n", "\nDELIMITER $$\n", "DELIMITER ;\n", ";;",
					"CREATE TRIGGER t BEGIN IF 1 THEN ", "END IF", "BEGIN NOT ATOMIC ", "END CASE", "2fa", "$x", "--x",
					"GO\n", "\nGO 5\n", "]]", "[a", "@a", "#b", "\n:r x\n", "IF ", "CREATE VIEW ", "CREATE TABLE ", "SELECT ", "ELSE ", "CASE ",
					"q'[", "]'", "nq'x", "x'", "&a", "&&a.", "${a}", "${", "\n/\n", "/", "\n.\n", "..", "1..2", "REM x\n", "prompt '\n", "SET a -\n", "@x\n",
					"BEGIN ", "DECLARE ", "<<a>>", "CREATE TRIGGER t ", "\nCREATE TABLE a", "\ninsert into a", "a#",
				}),
				rapid.StringN(0, 3, -1),
			)).Draw(t, "pieces")
			src := strings.Join(pieces, "")
			s := scan(source.NewFile("f", []byte(src)), lex)
			type span struct{ off, end int }
			var spans []span
			for _, tok := range s.tokens {
				spans = append(spans, span{tok.off, tok.end})
			}
			for _, r := range s.remarks {
				spans = append(spans, span{r.off, r.end})
			}
			for _, b := range s.blanks {
				spans = append(spans, span{b[0], b[1]})
			}
			slices.SortFunc(spans, func(a, b span) int { return a.off - b.off })
			last := 0
			down := strings.Contains(src, "goose")
			for _, sp := range append(spans, span{len(src), len(src)}) {
				if sp.off < last || sp.end < sp.off {
					t.Fatalf("%+v overlaps what ends at %d", sp, last)
				}
				if gap := strings.Trim(src[last:sp.off], " \t\r\n\v\f"); gap != "" && !down && gap != "\ufeff" {
					t.Fatalf("%q stands in no token", gap)
				}
				last = sp.end
			}
			for _, st := range s.statements {
				if got := st.sql(); len(got) != st.tokens[len(st.tokens)-1].end-st.off() {
					t.Fatalf("the parser sees %q for a statement of another length", got)
				}
			}
		})
	}
}

// Whatever the layout, a comment belongs to the column at whose line it ends or
// above which it stands.
func TestCommentsFindTheirColumns(t *testing.T) {
	for _, grammar := range Grammars() {
		rapid.Check(t, func(t *rapid.T) {
			var b strings.Builder
			flip := rapid.Bool()
			newline := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline")
			comment := func(text string) string {
				if flip.Draw(t, "block") {
					return "/* qgen:" + text + " */" + newline
				}
				return "-- qgen:" + text + newline
			}
			want := map[string][]string{}
			note := func(owner, text string) string {
				want[owner] = append(want[owner], text)
				return comment(text)
			}
			if flip.Draw(t, "before") {
				b.WriteString("SELECT 1;" + newline + comment("loose") + newline)
				want[""] = append(want[""], "loose")
			}
			if flip.Draw(t, "above table") {
				b.WriteString(note("t", "above"))
			}
			b.WriteString("CREATE TABLE t (")
			if flip.Draw(t, "behind the parenthesis") {
				b.WriteString(" " + note("t", "open"))
			} else {
				b.WriteString(newline)
			}
			n := rapid.IntRange(1, 5).Draw(t, "columns")
			for i := range n {
				name := fmt.Sprintf("c%d", i)
				for j := range rapid.IntRange(0, 2).Draw(t, "above") {
					b.WriteString("  " + note(name, fmt.Sprintf("above%d.%d", i, j)))
				}
				b.WriteString("  " + name + " " + rapid.SampledFrom([]string{
					"int", "varchar(3) DEFAULT '--' NOT NULL", "text CHECK (" + name + " IN ('a', ')'))", "int" + newline + "    NOT NULL",
				}).Draw(t, "type"))
				comma := ","
				if i == n-1 {
					comma = ""
				}
				switch {
				case flip.Draw(t, "behind") && comma != "":
					b.WriteString(comma + " " + note(name, fmt.Sprintf("behind%d", i)))
				case flip.Draw(t, "before the comma"):
					b.WriteString(" " + note(name, fmt.Sprintf("in%d", i)) + comma + newline)
				default:
					b.WriteString(comma + newline)
				}
			}
			b.WriteString(");")
			if flip.Draw(t, "behind table") {
				b.WriteString(" " + note("t", "behind"))
			}
			if flip.Draw(t, "end") {
				b.WriteString(newline + comment("end"))
				want[""] = append(want[""], "end")
			}
			c, errs := readText(t, grammar, b.String())
			if errs.Len() > 0 || len(c.Tables) != 1 {
				t.Fatalf("%d tables, %v from\n%s", len(c.Tables), errs.Err(), b.String())
			}
			got := map[string][]string{}
			take := func(owner string, comments []Comment) {
				for _, c := range comments {
					got[owner] = append(got[owner], strings.TrimPrefix(strings.TrimSpace(c.Text), "qgen:"))
					if c.AboveFirst != (owner == "c0" && strings.HasPrefix(got[owner][len(got[owner])-1], "above")) {
						t.Fatalf("AboveFirst of %q is %v in\n%s", c.Text, c.AboveFirst, b.String())
					}
				}
			}
			take("", c.Loose)
			take("t", c.Tables[0].Comments)
			for _, col := range c.Tables[0].Columns {
				take(strings.ToLower(col.Name), col.Comments)
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("got %v, want %v from\n%s", got, want, b.String())
			}
		})
	}
}
