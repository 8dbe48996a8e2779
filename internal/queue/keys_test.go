package queue

import (
	"strings"
	"testing"

	"github.com/qgen-dev/qgen/internal/config"
	"github.com/qgen-dev/qgen/internal/source"
)

// Whoever writes a verb, or a word of queue, as a key of a queue is told where it is said.
func TestVerbsAsKeys(t *testing.T) {
	places := map[string]string{}
	for _, w := range verbs[0].words { // of queue
		places[w.name] = "It is a word of queue"
	}
	for _, v := range verbs[1:] {
		places[v.name] = "It is said of"
	}
	for name, place := range places {
		var errs source.ErrorList
		config.Parse(source.NewFile("qgen.yaml", []byte("version: \"1\"\nqueues:\n  - schema: s.sql\n    engine: sqlite\n    gen: {go: {out: q}}\n    "+name+": x\n")), &errs)
		text := errs.Detail()
		if strings.Contains(text, `unknown key "`+name+`"`) && !strings.Contains(text, place) {
			t.Errorf("%s: nothing says that %s …\n%s", name, place, text)
		}
	}
}
