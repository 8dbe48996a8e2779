package dialect

import "testing"

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
