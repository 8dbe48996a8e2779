package dialect

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Version is a server version as its vendor counts: up to three numbers.
type Version [3]int

// ParseVersion reads "9.5", "14" or "3.35.0". Numbers behind the third, which patches have
// ("11.2.0.4.0"), do not count.
func ParseVersion(s string) (Version, error) {
	var v Version
	parts := strings.Split(s, ".")
	if len(parts) > 5 {
		return v, fmt.Errorf("%q is not a version such as 14, 9.5 or 3.35.1", s)
	}
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 || n > 99999 {
			return v, fmt.Errorf("%q is not a version such as 14, 9.5 or 3.35.1", s)
		}
		if i < len(v) {
			v[i] = n
		}
	}
	return v, nil
}

// Less reports whether v is older than w.
func (v Version) Less(w Version) bool {
	return cmp.Or(cmp.Compare(v[0], w[0]), cmp.Compare(v[1], w[1]), cmp.Compare(v[2], w[2])) < 0
}

// String writes the version without trailing zeros after the first number.
func (v Version) String() string {
	s := strconv.Itoa(v[0])
	if v[1] != 0 || v[2] != 0 {
		s += "." + strconv.Itoa(v[1])
	}
	if v[2] != 0 {
		s += "." + strconv.Itoa(v[2])
	}
	return s
}

// UnmarshalYAML reads the version from its text.
func (v *Version) UnmarshalYAML(node *yaml.Node) error {
	var err error
	*v, err = ParseVersion(node.Value)
	return err
}
