package billsq

import (
	"context"
	"os"
	run "os/exec"
	"strings"
	"testing"
)

// setting says which jobs the test of the package gets: as they are made up, of a payer that is
// there and has not paid, of one that has.
var setting = os.Getenv("BILLSQ_PAID")

func init() {
	if setting == "" {
		return
	}
	conformanceJob = func(i int) NewJob { return NewJob{Holder: 2} }
}

// The test of the package says what it lacks once, and what to do about it.
func TestProof(t *testing.T) {
	dsn := database(t)
	db := opened(t, dsn+"&_pragma=foreign_keys(1)")
	for _, c := range []struct{ paid, says string }{
		{"", "the database does not take the job that conformanceJob makes"},
		{"0", "the job that conformanceJob makes is not ready"},
		{"1", ""},
	} {
		if _, err := db.ExecContext(context.Background(), "DELETE FROM bills; INSERT OR REPLACE INTO payers VALUES (2, ?)", c.paid); err != nil {
			t.Fatal(err)
		}
		cmd := run.Command(os.Args[0], "-test.v", "-test.run=^TestConformance$")
		cmd.Env = append(os.Environ(), "BILLSQ_TEST_DSN="+dsn+"&_pragma=foreign_keys(1)", "BILLSQ_PAID="+c.paid)
		out, err := cmd.CombinedOutput()
		if (err == nil) != (c.says == "") || strings.Count(string(out), c.says) != 1 && c.says != "" || strings.Count(string(out), "--- FAIL: TestConformance/") > 1 {
			t.Errorf("paid %q: %v\n%s", c.paid, err, out)
		}
	}
}
