// Package conformance proves what emitted packages promise. One suite of
// properties runs over every package in gen/, each for another shape of table,
// strategy, driver or server version, on every live server that can run it.
//
// test/servers/with starts the servers. Without them only SQLite is tested;
// with -short the numbers are small.
package conformance

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"
)

// emitted is one package in gen/.
type emitted struct {
	name      string
	new       any              // New
	worker    any              // WithWorker; nil where claims do not record who holds a row
	lost      error            // ErrLost
	retryable func(error) bool // IsRetryable

	// From qgen.yaml.
	shape    string   // the folder in cases/
	besides  []string // files of further tables
	engine   string
	family   *family
	server   string // oldest version that it is for; "" where there is one only
	driver   string
	strategy string // forced; "" is the shape's own choice
	cluster  bool   // for a cluster whose nodes all write
	group    int    // jobs of one group that may run at once, where it says so
}

// property is one promise.
type property struct {
	name    string
	applies func(*subject) bool // nil: to everything
	prove   func(*testing.T, *subject)
}

// properties is the suite.
var properties = []property{
	{"exclusive", nil, proveExclusive},
	{"order", nil, proveOrder},
	{"limit", nil, proveLimit},
	{"stale statistics", plansByStatistics, proveStaleStatistics},
	{"locks its own rows", locksRows, proveLocksItsOwnRows},
	{"settles beside others", settlesBeside, proveSettlesBesideOthers},
	{"producers go on", locksRows, proveProducersGoOn},
	{"late worker", canReclaim, proveLateWorker},
	{"given back", tellsClaimsApart, proveGivenBack},
	{"lost answer", canComplete, proveLostAnswer},
	{"lost keys", canComplete, proveLostKeys},
	{"handed over", canComplete, proveHandedOver},
	{"lagging node", settlesElsewhere, proveLaggingNode},
	{"every node", onCluster, proveEveryNode},
	{"refuses prepared", refusesPrepared, proveRefusesPrepared},
	{"killed node", losesNode, proveKilledNode},
	{"rollback", nil, proveRollback},
	{"joins transaction", nil, proveJoinsTransaction},
	{"retryable", nil, proveRetryable},
	{"killed worker", comesBack, proveKilledWorker},
	{"idle poll", nil, proveIdlePoll},
	{"flat under snapshot", hasLowHint, proveFlatUnderSnapshot},
	{"plan", plansAlone, provePlan},
	{"settle by key", settlesByKey, proveSettleByKey},
	{"fail", canFail, proveFail},
	{"requeue", canRequeue, proveRequeue},
	{"extend and recover", canExtend, proveExtendAndRecover},
	{"recover gives up", givesUp, proveRecoverGivesUp},
	{"moves rows", movesRows, proveMovesRows},
	{"late worker moves nothing", movesRows, proveLateWorkerMovesNothing},
	{"groups", hasGroups, proveGroups},
	{"busy group", hasGroups, proveBusyGroup},
	{"head of line", headOfLine, proveHeadOfLine},
	{"enqueue", nil, proveEnqueue},
	{"complete and claim", canCompleteAndClaim, proveCompleteAndClaim},
	{"stats and peek", nil, proveStatsAndPeek},
	{"payload elsewhere", hasPayload, provePayloadElsewhere},
	{"another table", isTemplated, proveAnotherTable},
	{"redrive", canRedrive, proveRedrive},
	{"purge", canPurge, provePurge},
	{"verify", nil, proveVerify},
	{"settings", hasSettings, proveSettings},
	{"work", hasWork, proveWork},
	{"arguments", hasArguments, proveArguments},
	{"outcomes", hasArguments, proveOutcomes},
	{"dead workers", hasArguments, proveDeadWorkers},
	{"methods", nil, proveMethods},
}

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // worker loops log what their handlers do wrong
	flag.Parse()
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == "test.parallel" })
	if !said { // most of the time is spent waiting for servers
		if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

func TestConformance(t *testing.T) {
	results := &proof{rows: map[proofKey]map[string]bool{}}
	subjects := everySubject(t)
	t.Cleanup(func() { results.compare(t) })
	for _, f := range families {
		if !slices.ContainsFunc(subjects, func(s *subject) bool { return s.family == f }) {
			t.Run(f.engine, func(t *testing.T) { t.Skip("none of its servers is at hand") })
		}
	}
	for _, s := range subjects {
		if losesNode(s) && !filtered() {
			s.drill.begin(t) // beside everything else
		}
		t.Run(s.pkg.name+"/"+s.name, func(t *testing.T) {
			t.Parallel()
			for _, p := range s.properties() {
				if p.applies != nil && !p.applies(s) {
					continue
				}
				ok := t.Run(p.name, func(t *testing.T) { p.prove(t, s) })
				results.add(s, p.name, ok)
			}
		})
	}
}

// everySubject pairs each package with each live server that is new enough for it.
func everySubject(t *testing.T) []*subject {
	t.Helper()
	var all []*subject
	covered := map[proofKey]bool{}
	drills := map[*cluster]*drill{}
	for _, e := range emittedPackages(t) {
		s := shapes[e.shape]
		if s == nil {
			t.Fatalf("shape_test.go says nothing about %s", e.shape)
		}
		if e.family.shape != nil {
			s = e.family.shape(s)
		}
		var fit []*subject
		for _, server := range live {
			if server.family == e.family && server.clustered() == e.cluster && server.up() && !before(server.version, e.server) {
				fit = append(fit, (&subject{server: server, pkg: e, shape: s}).join(drills))
			}
		}
		for i, s := range fit {
			// On the oldest server that can run it, for which it is made, and the
			// newest; in between and on slow servers only what says something new.
			last := i == len(fit)-1 && !s.family.slow
			s.first = i == 0
			if i == 0 || last || e.shape == "single" || !covered[s.key()] {
				covered[s.key()] = true
				all = append(all, s)
			}
		}
	}
	// One package of each pair of strategy and server runs the whole number of jobs.
	seen := map[proofKey]bool{}
	for _, s := range all {
		if k := s.key(); !seen[k] {
			seen[k], s.whole = true, true
		}
	}
	return all
}

// emittedPackages are the packages of qgen.yaml, with what registry_test.go lists
// of them.
func emittedPackages(t *testing.T) []emitted {
	t.Helper()
	known := map[string]emitted{}
	for _, e := range registry {
		known[e.name] = e
	}
	var all []emitted
	for _, e := range configured(t) {
		r, ok := known[e.name]
		if !ok {
			t.Errorf("registry_test.go does not list %s", e.name)
			continue
		}
		delete(known, e.name)
		e.new, e.worker, e.lost, e.retryable = r.new, r.worker, r.lost, r.retryable
		all = append(all, e)
	}
	for name := range known {
		t.Errorf("qgen.yaml does not list %s", name)
	}
	return all
}

// configured reads the packages from qgen.yaml.
func configured(t *testing.T) []emitted {
	t.Helper()
	text, err := os.ReadFile("qgen.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Queues []struct {
			Name, Engine, Server, Queue string
			Cluster                     bool
			Group                       struct{ Limit int }
			Schema                      []string
			Gen                         struct {
				Go struct {
					Package    string
					SQLPackage string `yaml:"sql_package"`
				}
			}
		}
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	var all []emitted
	for _, q := range config.Queues {
		family := familyOf(q.Engine)
		if family == nil {
			t.Fatalf("family_test.go knows no servers of the engine %s", q.Engine)
		}
		all = append(all, emitted{
			name:     q.Gen.Go.Package,
			engine:   q.Engine,
			family:   family,
			besides:  q.Schema[1:],
			shape:    filepath.Base(filepath.Dir(q.Schema[0])),
			server:   q.Server,
			driver:   cmp.Or(q.Gen.Go.SQLPackage, "database/sql"),
			strategy: strings.TrimPrefix(q.Queue, "strategy="),
			cluster:  q.Cluster,
			group:    q.Group.Limit,
		})
	}
	return all
}

// strategy is how the package claims.
func (s *subject) strategy() string {
	switch {
	case s.pkg.strategy != "":
		return s.pkg.strategy
	case s.shape.strategy != "":
		return s.shape.strategy
	}
	for _, c := range s.pkg.family.strategies {
		if c.where == nil || c.where(s) {
			return c.strategy
		}
	}
	return ""
}

// proof collects which strategy is proved on which server.
type proof struct {
	mu   sync.Mutex
	rows map[proofKey]map[string]bool // property: held for every case
}

// allProperties are the properties of all subjects, each name once.
func allProperties() []property {
	all := slices.Clone(properties)
	for _, p := range logProperties {
		if !slices.ContainsFunc(properties, func(q property) bool { return q.name == p.name }) {
			all = append(all, p)
		}
	}
	return all
}

type proofKey struct{ strategy, engine, server string }

func (s *subject) key() proofKey {
	server := s.version
	if s.clustered() {
		server = s.name
	}
	return proofKey{s.strategy(), s.pkg.engine, server}
}

func (p *proof) add(s *subject, property string, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	row := p.rows[s.key()]
	if row == nil {
		row = map[string]bool{}
		p.rows[s.key()] = row
	}
	if held, seen := row[property]; seen {
		ok = ok && held
	}
	row[property] = ok
}

// compare compares what was proved with proof.tsv, from which the README's
// table of dialects is taken. A run that left servers or properties out says
// nothing about the file.
func (p *proof) compare(t *testing.T) {
	if t.Failed() || testing.Short() || !allUp() || filtered() {
		return
	}
	var lines []string
	for k, row := range p.rows {
		var held []string
		for _, property := range allProperties() {
			if row[property.name] {
				held = append(held, property.name)
			}
		}
		lines = append(lines, fmt.Sprintf("%s\t%s\t%s\t%s\n", k.strategy, k.engine, cmp.Or(k.server, "-"), strings.Join(held, ", ")))
	}
	slices.Sort(lines)
	got := []byte("strategy\tengine\tserver\tproperties\n" + strings.Join(lines, ""))
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile("proof.tsv", got, 0o644); err != nil {
			t.Error(err)
		}
		return
	}
	want, err := os.ReadFile("proof.tsv")
	if err != nil {
		t.Error(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("proof.tsv says something else than this run; UPDATE_GOLDEN=1 writes it anew. This run:\n%s", got)
	}
}

// filtered reports whether only some of the tests run.
func filtered() bool {
	f := flag.Lookup("test.run")
	return f != nil && f.Value.String() != ""
}
