package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/qgen-dev/qgen/internal/source"
)

// golden compares got with a file, or writes the file when UPDATE_GOLDEN is set.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (UPDATE_GOLDEN=1 rewrites it)\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}

// inputs returns the example files of a folder of testdata by name.
func inputs(t testing.TB, folder string) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", folder, "*.yaml"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files in testdata/%s: %v", folder, err)
	}
	files := map[string][]byte{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[strings.TrimSuffix(filepath.Base(path), ".yaml")] = data
	}
	return files
}

// What is wrong is said at its place, all of it at once.
func TestParseComplains(t *testing.T) {
	for name, data := range inputs(t, "bad") {
		t.Run(name, func(t *testing.T) {
			var errs source.ErrorList
			Parse(source.NewFile(Name, data), &errs)
			if errs.Len() == 0 {
				t.Fatal("no complaint")
			}
			golden(t, filepath.Join("testdata", "bad", name+".txt"), errs.Detail())
		})
	}
}

// What is right arrives with its place.
func TestParse(t *testing.T) {
	for name, data := range inputs(t, "good") {
		t.Run(name, func(t *testing.T) {
			var errs source.ErrorList
			c := Parse(source.NewFile(Name, data), &errs)
			if errs.Len() > 0 {
				t.Fatalf("complaints:\n%s", errs.Detail())
			}
			var b strings.Builder
			dump(&b, "", reflect.ValueOf(c.Queues))
			golden(t, filepath.Join("testdata", "good", name+".txt"), b.String())
		})
	}
}

// Keys of the language that are not carried out arrive by name, for the queue
// stage to refuse, and the JSON Schema refuses them at once.
func TestParseLater(t *testing.T) {
	data := inputs(t, "later")["later"]
	var errs source.ErrorList
	c := Parse(source.NewFile(Name, data), &errs)
	if errs.Len() > 0 || len(c.Queues) != 1 {
		t.Fatalf("%d queues, complaints:\n%s", len(c.Queues), errs.Detail())
	}
	var got []string
	for _, s := range c.Queues[0].Later {
		got = append(got, s.Value)
		if base := s.Value[strings.LastIndexByte(s.Value, '.')+1:]; s.Pos.Text() != base {
			t.Errorf("%s is said to stand at %s, where %q stands", s.Value, s.Pos, s.Pos.Text())
		}
	}
	slices.Sort(got)
	if want := []string{"gen.indexes", "gen.review", "gen.sqlc"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// dump writes every value with its path and its place.
func dump(b *strings.Builder, path string, v reflect.Value) {
	switch x := v.Interface().(type) {
	case String:
		if !x.IsSet() {
			return
		}
		fmt.Fprintf(b, "%s = %q", path, x.Value)
		if !x.Exact {
			fmt.Fprintf(b, " written as %q", x.Pos.Text())
		}
		fmt.Fprintf(b, " at %s\n", x.Pos)
		return
	case source.Pos:
		fmt.Fprintf(b, "%s at %s %q\n", path, x, x.Text())
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			dump(b, path, v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			dump(b, path+"."+v.Type().Field(i).Name, v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			dump(b, fmt.Sprintf("%s[%d]", path, i), v.Index(i))
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, k := range keys {
			dump(b, path+"."+k.String(), v.MapIndex(k))
		}
	default:
		if !v.IsZero() {
			fmt.Fprintf(b, "%s = %v\n", path, v)
		}
	}
}

// The JSON Schema names the keys that Parse knows, and no others.
func TestSchemaNamesTheSameKeys(t *testing.T) {
	type object struct {
		Properties  map[string]json.RawMessage
		Definitions map[string]json.RawMessage
	}
	read := func(data json.RawMessage, steps ...string) map[string]json.RawMessage {
		t.Helper()
		for _, step := range steps {
			var level map[string]json.RawMessage
			if err := json.Unmarshal(data, &level); err != nil {
				t.Fatal(err)
			}
			if data = level[step]; data == nil {
				t.Fatalf("the schema has no %s in %v", step, steps)
			}
		}
		var o object
		if err := json.Unmarshal(data, &o); err != nil {
			t.Fatal(err)
		}
		return o.Properties
	}
	p := &parser{}
	for _, tt := range []struct {
		name  string
		keys  []key
		steps []string
	}{
		{"the file", configKeys(p, &Config{}), nil},
		{"a queue", queueKeys(p, &Queue{}), []string{"definitions", "queue"}},
		{"a time", timeKeys(p, &Time{}), []string{"definitions", "queue", "properties", "times", "additionalProperties"}},
		{"a stage", stageKeys(p, &Queue{}), []string{"definitions", "stage"}},
		{"backoff", backoffKeys(p, &Backoff{}), []string{"definitions", "queue", "properties", "backoff"}},
		{"a companion", companionKeys(p, &Companion{}), []string{"definitions", "companion"}},
		{"done and failed", endKeys(p, new(*Move)), []string{"definitions", "end"}},
		{"move", moveKeys(p, &Move{}), []string{"definitions", "end", "properties", "move"}},
		{"offset", offsetKeys(p, &Offset{}), []string{"definitions", "queue", "properties", "offset"}},
		{"indexes", indexKeys(p, &Queue{}), []string{"definitions", "queue", "properties", "indexes"}},
		{"gen", genKeys(p, &Gen{}), []string{"definitions", "queue", "properties", "gen"}},
		{"gen.go", goKeys(p, &Go{}), []string{"definitions", "go"}},
		{"an override", overrideKeys(p, &Override{}), []string{"definitions", "go", "properties", "overrides", "items"}},
		{"go_type", goTypeKeys(p, &Override{}), []string{"definitions", "go", "properties", "overrides", "items", "properties", "go_type"}},
	} {
		properties := read(Schema, tt.steps...)
		want := slices.Sorted(maps.Keys(properties))
		var got []string
		for _, k := range tt.keys {
			if k.never != "" {
				continue
			}
			got = append(got, k.name)
			if refused := string(properties[k.name]) == `{"$ref": "#/definitions/later"}`; refused != k.later {
				t.Errorf("%s: %s is refused by the schema: %t, by Parse: %t", tt.name, k.name, refused, k.later)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: Parse knows %v, the schema %v", tt.name, got, want)
		}
	}
}

// An independent validator accepts with the JSON Schema what Parse accepts and
// refuses what Parse refuses.
func TestSchemaAgreesWithParse(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(Schema)))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("qgen.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("qgen.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	valid := func(data []byte) error {
		var v any
		if err := yaml.Unmarshal(data, &v); err != nil {
			return err
		}
		return schema.Validate(v)
	}
	good := inputs(t, "good")
	example, err := os.ReadFile("../../qgen.yaml")
	if err != nil {
		t.Fatal(err)
	}
	good["the example"] = example
	for name, data := range good {
		if err := valid(data); err != nil {
			t.Errorf("the schema refuses %s: %v", name, err)
		}
	}
	// What a schema cannot say: one document, one length against another.
	beyond := []string{"second_document", "second_document_broken"}
	refused := inputs(t, "bad")
	maps.Copy(refused, inputs(t, "later"))
	for name, data := range refused {
		if err := valid(data); err == nil && !slices.Contains(beyond, name) {
			t.Errorf("the schema accepts %s", name)
		}
	}
}

// Whatever stands in the file, Parse returns, complains inside the file, and
// gives every value the place that it has.
func FuzzParse(f *testing.F) {
	for _, folder := range []string{"good", "bad"} {
		for _, data := range inputs(f, folder) {
			f.Add(data)
		}
	}
	f.Add([]byte("version: &a \"1\"\nqueues: &b [*b, {<<: [*b, *a]}, ? *a : *b]\n"))
	f.Add([]byte("\ufeffversion: !!str &x |2-\r\n    1\rqueues:\u2028- {schema: ['a''b', \"\\u0041\", >\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var errs source.ErrorList
		file := source.NewFile(Name, data)
		c := Parse(file, &errs)
		for _, e := range errs.All() {
			if e.Pos.File != file || e.Pos.Offset+e.Pos.Len > len(data) {
				t.Errorf("complaint outside the file: %+v", e)
			}
		}
		_ = errs.Detail()
		if len(c.Queues) == 0 && errs.Len() == 0 {
			t.Error("neither queues nor complaints")
		}
		exact(t, reflect.ValueOf(c.Queues))
	})
}

// exact checks that the texts below v stand where they say.
func exact(t *testing.T, v reflect.Value) {
	if s, ok := v.Interface().(String); ok {
		if s.IsSet() && s.Exact && s.Pos.Text() != s.Value {
			t.Errorf("%q is said to stand at %s, where %q stands", s.Value, s.Pos, s.Pos.Text())
		}
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && v.Type() != reflect.TypeFor[*source.File]() {
			exact(t, v.Elem())
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[source.Pos]() {
			return
		}
		for i := range v.NumField() {
			exact(t, v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			exact(t, v.Index(i))
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			exact(t, v.MapIndex(k))
		}
	}
}
