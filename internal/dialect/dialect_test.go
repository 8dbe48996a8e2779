package dialect

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/qgen-dev/qgen/internal/schema"
)

// Every folder loads strictly, and what it names exists.
func TestFoldersLoad(t *testing.T) {
	all := All()
	if len(all) == 0 {
		t.Fatal("no dialects")
	}
	for _, d := range all {
		if d.Title == "" || len(d.Drivers) == 0 || d.Placeholder == "" {
			t.Errorf("%s: title, drivers and placeholder are needed", d.Name)
		}
		if d.Default.Less(d.Minimum) {
			t.Errorf("%s: default %s is older than minimum %s", d.Name, d.Default, d.Minimum)
		}
		if _, err := schema.Read(d.Grammar, nil, nil); err != nil {
			t.Errorf("%s: %v", d.Name, err)
		}
		for name, fragment := range d.Fragments {
			if fragment.At(d.Minimum) == "" {
				t.Errorf("%s: fragment %s has no text for %s", d.Name, name, d.Minimum)
			}
		}
		for c, why := range d.ClusterAbsent {
			if d.Cluster == "" || why == "" {
				t.Errorf("%s: cluster_absent: %s needs a cluster and a reason", d.Name, c)
			}
		}
		for kind := range d.Clocks {
			// A clock that came later is one that a queue on an older server is refused.
			if _, ok := d.Clock(kind, d.Default); !ok {
				t.Errorf("%s: clock %s has no text for %s", d.Name, kind, d.Default)
			}
		}
	}
}

func TestIdent(t *testing.T) {
	pg, _ := Lookup("postgresql")
	for name, want := range map[string]string{
		"msg_id": "msg_id", "Order": `"Order"`, "order": `"order"`, `a"b`: `"a""b"`, "1st": `"1st"`,
		"tëxt": `"tëxt"`, "a b": `"a b"`, "a1": "a1", "": `""`, "a\nb": "\"a\nb\"",
	} {
		if got := pg.Ident(name); got != want {
			t.Errorf("Ident(%q) = %s, want %s", name, got, want)
		}
	}
	if got := pg.Shorten("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaé"); len(got) != 62 {
		t.Errorf("Shorten cut inside a character: %q", got)
	}
}

// TestReserved shows that columns and tables may be called by any word that one of the
// servers reserves, and by what columns of queues are often called.
func TestReserved(t *testing.T) {
	common, err := os.ReadFile("testdata/names.txt")
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(string(common))
	for _, d := range All() {
		words = append(words, strings.Fields(d.Identifiers.Reserved)...)
	}
	slices.Sort(words)
	words = slices.Compact(words)
	for _, d := range All() {
		for _, w := range words {
			name := d.Ident(d.Fold(w))
			for _, sql := range []string{
				"UPDATE t SET " + name + " = 1 WHERE " + name + " = 2 OR t." + name + " = 3",
				"SELECT " + name + ", t." + name + " FROM t WHERE " + name + " IN (1, 2) AND (" + name + " IS NULL OR " + name + " <= 5) ORDER BY " + name,
				"INSERT INTO t (" + name + ") VALUES (1)",
				"SELECT 1 FROM " + name,
			} {
				if err := schema.Check(d.Grammar, sql); err != nil {
					t.Errorf("%s: %s: %v", d.Name, sql, err)
				}
			}
		}
	}
}

func TestFormat(t *testing.T) {
	pg, _ := Lookup("postgresql")
	sqlite, _ := Lookup("sqlite")
	for _, tt := range []struct {
		d      *Dialect
		layout string
		want   string
		ok     bool
	}{
		{sqlite, "2006-01-02 15:04:05", "'%Y-%m-%d %H:%M:%S'", true},
		{sqlite, "2006-01-02T15:04:05.000Z", "'%Y-%m-%dT%H:%M:%fZ'", true},
		{pg, "2006-01-02T15:04:05.000Z", `'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'`, true},
		{pg, "20060102150405", "'YYYYMMDDHH24MISS'", true},
		{sqlite, "2006-01-02 3:04", "", false},
	} {
		got, ok := tt.d.Format(tt.layout)
		if got != tt.want || ok != tt.ok {
			t.Errorf("%s: Format(%q) = %s, %v; want %s, %v", tt.d.Name, tt.layout, got, ok, tt.want, tt.ok)
		}
	}
}

func TestNumber(t *testing.T) {
	byName := &Dialect{Placeholder: "${n}"}
	byPlace := &Dialect{Placeholder: "?"}
	byBoth := &Dialect{Placeholder: ":{n}", Repeats: "DECLARE"}
	number := func(d *Dialect, text string) (string, []int, error) {
		return d.number(text, func(_, n int) string { return Fill(d.Placeholder, "n", strconv.Itoa(n)) })
	}
	text := "a = " + Mark(7) + " AND b = " + Mark(3) + " OR c = " + Mark(7)
	for _, tt := range []struct {
		d    *Dialect
		want string
		args int
	}{{byName, "a = $1 AND b = $2 OR c = $1", 2}, {byPlace, "a = ? AND b = ? OR c = ?", 3}, {byBoth, "a = :1 AND b = :2 OR c = :3", 3}} {
		got, args, err := number(tt.d, text)
		if err != nil || got != tt.want || len(args) != tt.args {
			t.Errorf("got %q, %v, %v; want %q with %d arguments", got, args, err, tt.want, tt.args)
		}
	}
	list := "a IN (" + MarkText(7, ":v0") + ")"
	listed := &Dialect{Placeholder: ":{n}", ListPlaceholder: ":v{n}", Repeats: "DECLARE"}
	got, args, err := number(listed, "DECLARE "+list+" AND b = "+Mark(3)+" OR "+list+" AND b < "+Mark(3))
	if want := "DECLARE a IN (:v0) AND b = :2 OR a IN (:v0) AND b < :2"; err != nil || got != want || !slices.Equal(args, []int{7, 3, 7}) {
		t.Errorf("got %q, %v, %v; want %q, each list an argument", got, args, err, want)
	}
	if _, _, err := number(byName, "a"+argOpen+"b"); err == nil {
		t.Error("a stray mark is accepted")
	}
}

func TestVersion(t *testing.T) {
	for _, s := range []string{"14", "9.5", "3.35.1", "0"} {
		v, err := ParseVersion(s)
		if err != nil || v.String() != s {
			t.Errorf("ParseVersion(%q) = %s, %v", s, v, err)
		}
	}
	if v, err := ParseVersion("11.2.0.4.0"); err != nil || v != (Version{11, 2}) {
		t.Errorf("a version of a patch is %s, %v", v, err)
	}
	for _, s := range []string{"", "x", "1.2.3.4.5.6", "1.2.3.x", "-1", "14beta"} {
		if _, err := ParseVersion(s); err == nil {
			t.Errorf("ParseVersion(%q) is accepted", s)
		}
	}
	oracle, _ := Lookup("oracle")
	for name, want := range map[string]string{"11": "11.2", "11g": "11.2", "11G": "11.2", "11.1": "11.1", "11.2.0.4": "11.2", "12": "12.1", "12cR2": "12.2", "19c": "19", "23ai": "23"} {
		if v, err := oracle.Server(name); err != nil || v.String() != want {
			t.Errorf("Oracle %s is %s, %v, not %s", name, v, err, want)
		}
	}
	if !(Version{9, 5}).Less(Version{14}) || (Version{14}).Less(Version{9, 6}) {
		t.Error("versions compare wrongly")
	}
}

// The releases of MySQL behind 9.7 are called by year and month, and can what it can.
func TestCalendarVersions(t *testing.T) {
	d, ok := Lookup("mysql")
	if !ok || len(d.Capabilities) == 0 {
		t.Fatal("MySQL can do nothing")
	}
	for c := range d.Capabilities {
		if last, calendar := d.Can(c, Version{9, 7}), d.Can(c, Version{26, 10}); last != calendar {
			t.Errorf("%s: 9.7 %t, 26.10 %t", c, last, calendar)
		}
	}
	if !d.Can(SkipLocked, Version{26, 7}) {
		t.Error("26.7 does not pass over locked rows")
	}
}
