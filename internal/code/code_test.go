package code

import (
	"bytes"
	"go/format"
	"os"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// render returns the file of one declaration.
func render(t *testing.T, f *File) string {
	t.Helper()
	text, err := f.Render(new(Formatter))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestVocabulary writes a file with every kind of word and compares it with
// testdata/vocabulary.go.golden; UPDATE_GOLDEN=1 writes it.
func TestVocabulary(t *testing.T) {
	f := NewFile("words", map[string]Name{"example.com/x/v2": {Text: "x"}, "example.com/y": {Text: "why", Alias: true}})
	f.Header = "// Code generated for a test. DO NOT EDIT."
	f.Doc = []string{"// Package words has all words."}
	f.Anon("embed")

	f.Line()
	f.Comment("// Constants.")
	f.Const().Defs(
		Id("a").Op("=").Lit(1).Comment("one"),
		Comment("two words"),
		Id("longer").Op("=").Lit(2.5).Comment("behind"),
		nil,
		Id("whole").Op("=").Lit(1e6),
		Id("three").Op("=").Lit(3.0),
		Id("text").Op("=").Lit("a \"b\"\x00"),
		Id("yes").Op("=").Lit(true),
		Id("letter").Op("=").LitRune('\n'),
	)
	f.Line()
	f.Add(Type()).Id("T").StructFunc(func(g *Group) {
		g.Id("Name").String().Tag(map[string]string{"json": "name", "db": "n"}).Comment("its name")
		g.Id("Of").Map(String()).Op("*").Qual("example.com/x/v2", "X").Tag(map[string]string{"odd": "`"})
		g.Line()
		g.Id("ch").Chan().Struct()
		g.List(Id("l"), Id("m")).Index().Byte()
	})
	f.Line()
	f.Add(Type()).Id("I").Interface(Id("M").Params(Id("n").Int()).Params(Uint(), Error()), Id("N").Params())
	f.Line()
	f.Func().Id("F").Types(Id("A").Any()).Params(Id("t").Op("*").Id("T"), Id("in").Op("...").Id("A")).Params(Int64(), Error()).BlockFunc(func(g *Group) {
		g.Id("n").Op(":=").Len(Id("in"))
		g.For(Id("i").Op(":=").Lit(0), Id("i").Op("<").Id("n"), Id("i").Op("++")).Block(Continue())
		g.For(List(Id("_"), Id("v")).Op(":=").Range().Id("in")).Block(Id("_").Op("=").Id("v"), Break())
		g.If(Err().Op(":=").Qual("example.com/y", "Go").Call(), Err().Op("!=").Nil()).Block(
			Return(Lit(0), Err()),
		).Else().Block(Go().Func().Params().Block().Call())
		g.Switch(Id("n")).Block(
			Case(Lit(1), Lit(2)).Block(Delete(Id("t").Dot("Of"), Lit("x"))),
			Case(Lit(3)).BlockFunc(func(g *Group) { g.Close(Id("t").Dot("ch")) }),
			Default().Block(Defer().Func().Params().Add(Custom(Brackets{Open: "{ ", Close: " }"}, Id("_").Op("=").Recover())).Call()),
		)
		g.Add(Select()).Block(Case(Op("<-").Id("t").Dot("ch")).Block())
		g.Var().Id("b").Op("=").Make(Index().Byte(), Lit(1))
		g.Id("b").Op("=").Append(Id("b").Index(Empty(), Id("n")), Lit(2))
		g.Add(Null())
		g.Add(List())
		g.Id("_").Op("=").Id("b").Index(Lit(1), Empty())
		g.Id("_").Op("=").New(Int().Null()).Line().Id("_").Op("=").Any().Parens(Nil()).Assert(Id("I"))
		g.Id("_").Op("=").Id("T").Values(Id("Name").Op(":").Lit("n"))
		g.Id("_").Op("=").Index().Float64().Custom(Brackets{Open: "{", Close: "}", Separator: ",", Lines: true}, Lit(1), Lit(2))
		g.Return(Lit(1), Nil())
	})
	f.Line()
	f.Line()
	f.Var().Id("_").Op("=").Add(nil, Add(), Op("!").True().Op("||").False())
	f.Var().Id("_").Op("=").Qual("fmt", "Sprint")
	f.Line()
	f.Comment("The last word.")

	const golden = "testdata/vocabulary.go.golden"
	got := render(t, f)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// What is added is copied.
func TestStatementsAreCopied(t *testing.T) {
	a := Id("a")
	sum := Add(a, Op("+"))
	b := a.Clone().Dot("b")
	a.Op("spoiled")
	sum.Add(b)
	b.Op("spoiled")
	if got := sum.Text(); got != "a + a.b" {
		t.Errorf("got %q", got)
	}
	if !Id("x").Qual("p", "Q").Equal(Id("x").Qual("p", "Q")) || Id("x").Qual("p", "Q").Equal(Id("x").Qual("o", "Q")) || Id("x").Equal(Id("y")) {
		t.Error("Equal is wrong")
	}
	if (*Statement)(nil).Text() != "" {
		t.Error("nothing has a text")
	}
}

func TestImports(t *testing.T) {
	names := map[string]Name{
		"math/rand/v2":       {Text: "rand"},
		"example.com/a/rand": {Text: "rand"},
		"example.com/max":    {Text: "max"},
		"example.com/b":      {Text: "bee", Alias: true},
	}
	for _, tt := range []struct {
		paths []string
		anon  []string
		want  string
	}{
		{nil, nil, ""},
		{[]string{"fmt"}, nil, "\nimport \"fmt\"\n"},
		{nil, []string{"embed"}, "\nimport _ \"embed\"\n"},
		{[]string{"embed"}, []string{"embed"}, "\nimport \"embed\"\n"},
		{[]string{"example.com/b"}, nil, "\nimport bee \"example.com/b\"\n"},
		{[]string{"example.com/b", "os", "fmt", "os"}, []string{"embed"}, "\nimport (\n\t_ \"embed\"\n\t\"fmt\"\n\t\"os\"\n\n\tbee \"example.com/b\"\n)\n"},
		{[]string{"math/rand/v2", "crypto/rand"}, nil, "\nimport (\n\trand1 \"crypto/rand\"\n\t\"math/rand/v2\"\n)\n"},
		{[]string{"crypto/rand", "math/rand/v2", "example.com/a/rand"}, nil, "\nimport (\n\t\"crypto/rand\"\n\trand1 \"math/rand/v2\"\n\n\trand2 \"example.com/a/rand\"\n)\n"},
		{[]string{"example.com/max"}, nil, "\nimport max1 \"example.com/max\"\n"},
	} {
		f := NewFile("p", names)
		f.Anon(tt.anon...)
		for _, p := range tt.paths {
			f.Line()
			f.Var().Id("_").Qual(p, "T")
		}
		got, _, _ := strings.Cut(render(t, f), "\nvar ")
		if want := "package p\n" + tt.want; got != want {
			t.Errorf("%q, %q: got:\n%s\nwant:\n%s", tt.paths, tt.anon, got, want)
		}
	}
}

// The same code is called by other names in another file.
func TestAppendNamesPackagesAnew(t *testing.T) {
	part := NewFile("p", map[string]Name{"math/rand/v2": {Text: "rand"}})
	part.Var().Id("a").Op("=").Qual("math/rand/v2", "N")
	f := NewFile("p", map[string]Name{"math/rand/v2": {Text: "rand"}})
	f.Var().Id("b").Op("=").Qual("crypto/rand", "Read")
	formatter := new(Formatter)
	uses := func(f *File) string {
		var all []string
		if err := f.Uses(formatter, func(name string) { all = append(all, name) }); err != nil {
			t.Fatal(err)
		}
		return strings.Join(all, " ")
	}
	if got := uses(part); got != "N a rand" {
		t.Errorf("got %q", got)
	}
	if got := uses(f); got != "Read b rand" {
		t.Errorf("got %q", got)
	}
	f.Line()
	f.Append(part)
	if got := uses(f); got != "rand1 Read b rand N a rand1" {
		t.Errorf("got %q", got)
	}
}

func TestBrokenCode(t *testing.T) {
	f := NewFile("p", nil)
	f.Var().Id("a").Op("=").Op("][")
	const want = "3:9: expected operand, found ']' in\nvar a = ][\n"
	if _, err := f.Render(new(Formatter)); err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
	if err := f.Uses(new(Formatter), func(string) {}); err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

// pieces are declarations on whose layout gofmt has something to say.
var pieces = []string{
	"var a = 1 // one\nvar long = 2 // two\n",
	"const (\na = 1 // one\nlong = `\n`\n\nlonger, x = 3, 4 // three\n)\n",
	"type T struct{\nA int `json:\"a\"` // a\nLonger map[string]int `x:\"y\"`\n// b\nB, C int\n}\n",
	"func f() {}\nfunc g() { return }\n",
	"func f(a, b int) int { return a*b+c(a+b, a*b) }\n",
	"func f() {\nswitch x {\ncase 1, 2: // two\ng()\n\n\n\ndefault:\n}\n}\n",
	"var m = map[string]int{\n\"a\": 1,\n\"longer\": 2, // two\n\"b\": f(func() {\ng()\n}),\n}\n",
	"//go:embed x.sql\nvar x string\n",
	"// f does.\n//go:noinline\nfunc f() {}\n",
	"// Head\n//\n//   - one\n//   * two\n// 1) three\n//\n//\tcode\n// # More\nfunc f() {}\n",
	"//no space\nvar x int\n",
	"/* old */\nvar x int\n",
	"// only\n// a comment\n",
	"// lone   \n\t// indented\nvar x int\n",
	"import (\n\"os\"\n\"fmt\"\n)\n",
}

// TestApartAsTogether formats declarations one by one and as one file.
func TestApartAsTogether(t *testing.T) {
	formatter := new(Formatter)
	rapid.Check(t, func(t *rapid.T) {
		chosen := rapid.SliceOfN(rapid.SampledFrom(pieces[:len(pieces)-1]), 1, 6).Draw(t, "pieces")
		if rapid.Bool().Draw(t, "import") {
			chosen = append([]string{pieces[len(pieces)-1]}, chosen...)
		}
		f := NewFile("p", nil)
		for _, piece := range chosen {
			f.Line()
			f.Id(strings.TrimSuffix(piece, "\n"))
		}
		got, err := f.Render(formatter)
		if err != nil {
			t.Fatal(err)
		}
		want, err := format.Source([]byte("package p\n\n" + strings.Join(chosen, "\n\n")))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("apart:\n%s\ntogether:\n%s", got, want)
		}
	})
}

// One Formatter serves many goroutines.
func TestFormatterIsShared(t *testing.T) {
	formatter := new(Formatter)
	var wg sync.WaitGroup
	texts := make([]string, 8)
	for i := range texts {
		wg.Go(func() {
			f := NewFile("p", nil)
			for _, piece := range pieces[:8] {
				f.Line()
				f.Id(strings.TrimSuffix(piece, "\n"))
			}
			text, err := f.Render(formatter)
			if err != nil {
				t.Error(err)
			}
			texts[i] = string(text)
		})
	}
	wg.Wait()
	for _, text := range texts {
		if text != texts[0] {
			t.Errorf("one is\n%s\nanother\n%s", texts[0], text)
		}
	}
}
