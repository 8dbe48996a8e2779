package dialect

import "testing"

func TestCut(t *testing.T) {
	for _, tt := range []struct {
		name string
		most int
		want string
	}{
		{"jobs", 4, "jobs"}, {"jobs", 3, "job"}, {"jobs", 0, ""}, {"jobs", -1, ""}, {"", -1, ""},
		{"né", 3, "né"}, {"né", 2, "n"}, {"é", 1, ""},
	} {
		if got := Cut(tt.name, tt.most); got != tt.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", tt.name, tt.most, got, tt.want)
		}
	}
}

func TestFill(t *testing.T) {
	for _, tt := range []struct{ form, want string }{
		{"", ""},
		{"plain", "plain"},
		{"CAST({arg} AS {type})", "CAST({type} AS int)"},
		{"{arg}{arg}", "{type}{type}"},
		{"{other} {arg", "{other} {arg"},
		{"'{{arg}' }", "'{{type}' }"},
		{"{", "{"},
	} {
		if got := Fill(tt.form, "arg", "{type}", "type", "int"); got != tt.want {
			t.Errorf("Fill(%q) = %q, want %q", tt.form, got, tt.want)
		}
	}
}
