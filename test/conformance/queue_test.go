package conformance

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// This file speaks to an emitted package. The packages have the same API but
// not the same types, so it calls them by reflection: what a table adds to a
// call (topics, a shard, a result) is filled in here, and the properties of the
// suite are written once.

// queue is the Queue of an emitted package, or what it gives inside a
// transaction.
type queue struct {
	of      *table
	v       reflect.Value
	worker  int // which of the workers it is for: its shard, where the table has one
	workers int
	group   string // of consumers; "" for the case's own
}

// job is a Job of an emitted package.
type job struct{ v reflect.Value }

// n returns the number by which the suite knows the row, whatever its key.
func (j job) n() int64 { return j.v.FieldByName("N").Int() }

// field returns a field of the job with pointers followed, invalid when nil.
func (j job) field(name string) reflect.Value {
	f := j.v.FieldByName(name)
	if f.IsValid() && f.Kind() == reflect.Pointer {
		return f.Elem()
	}
	return f
}

func numbers(jobs []job) []int64 {
	ns := make([]int64, len(jobs))
	for i, j := range jobs {
		ns[i] = j.n()
	}
	return ns
}

// open calls the package's New over conn: *sql.DB, *sql.Tx, *pgxpool.Pool or pgx.Tx.
func (t *table) open(conn any, worker string) queue {
	args := []reflect.Value{reflect.ValueOf(conn)}
	if t.shape.templated {
		args = append(args, reflect.Zero(reflect.TypeOf(t.pkg.new).In(1)))
	}
	if t.pkg.worker != nil {
		args = append(args, reflect.ValueOf(t.pkg.worker).Call([]reflect.Value{reflect.ValueOf(worker)})...)
	}
	return queue{of: t, v: reflect.ValueOf(t.pkg.new).Call(args)[0], workers: 1}
}

// sharded returns the queue for one of several instances that share the table.
func (q queue) sharded(index, count int) queue {
	q.worker, q.workers = index, count
	return q
}

// has reports whether the package has the method at all.
func (q queue) has(method string) bool { return q.v.MethodByName(method).IsValid() }

// call calls a method. Arguments that the suite names are taken in order;
// a context, a shard and the topics of the case are filled in by their types, and
// what may be left out is.
func (q queue) call(ctx context.Context, method string, args ...any) ([]reflect.Value, error) {
	m := q.v.MethodByName(method)
	if !m.IsValid() {
		panic(fmt.Sprintf("%s has no method %s", q.of.pkg.name, method))
	}
	mt := m.Type()
	topics := q.of.shape.topics
	if q.group != "" {
		topics = []string{q.group}
	}
	var in []reflect.Value
	for i := range mt.NumIn() {
		want := mt.In(i)
		switch {
		case want == reflect.TypeFor[context.Context]():
			in = append(in, reflect.ValueOf(ctx))
		case want.Kind() == reflect.Struct && want.Name() == "Shard":
			s := reflect.New(want).Elem()
			s.FieldByName("Index").SetInt(int64(q.worker))
			s.FieldByName("Count").SetInt(int64(q.workers))
			in = append(in, s)
		case want.Kind() == reflect.Pointer && (len(args) == 0 || !reflect.TypeOf(args[0]).AssignableTo(want)):
			in = append(in, reflect.Zero(want)) // an argument of the user's, left out
		case want == reflect.TypeFor[[]string]() && !reflect.TypeOf(args[0]).AssignableTo(want):
			in = append(in, reflect.ValueOf([]string{"w0"})) // the workers that are alive
		case want.Kind() == reflect.String && len(topics) > 0:
			in = append(in, reflect.ValueOf(topics[0]))
			topics = topics[1:]
		case isJobs(args):
			in = append(in, slice(want, args[0].([]job)))
			args = args[1:]
		default:
			in = append(in, reflect.ValueOf(args[0]))
			args = args[1:]
		}
	}
	if len(args) > 0 {
		panic(fmt.Sprintf("%s.%s takes fewer arguments", q.of.pkg.name, method))
	}
	var out []reflect.Value
	if mt.IsVariadic() {
		out = m.CallSlice(in)
	} else {
		out = m.Call(in)
	}
	err, _ := out[len(out)-1].Interface().(error)
	return out[:len(out)-1], err
}

func isJobs(args []any) bool {
	if len(args) == 0 {
		return false
	}
	_, ok := args[0].([]job)
	return ok
}

// slice returns the jobs as a slice of the type that the package wants: of Job,
// of *Job where the call changes them, of Done where a result belongs to them.
func slice(t reflect.Type, jobs []job) reflect.Value {
	v := reflect.MakeSlice(t, len(jobs), len(jobs))
	for i, j := range jobs {
		switch {
		case t.Elem() == j.v.Type():
			v.Index(i).Set(j.v)
		case t.Elem().Kind() == reflect.Pointer:
			v.Index(i).Set(j.v.Addr())
		default:
			v.Index(i).Set(j.done())
		}
	}
	return v
}

// done returns the job with its result, which Complete takes where the table
// keeps one, and with a number for what else it takes.
func (j job) done() reflect.Value {
	m := j.v.MethodByName("Done")
	var args []reflect.Value
	for i := range m.Type().NumIn() {
		want := m.Type().In(i)
		arg := reflect.New(want).Elem()
		value := arg
		if want.Kind() == reflect.Pointer {
			arg.Set(reflect.New(want.Elem()))
			value = arg.Elem()
		}
		if value.Kind() == reflect.String {
			value.SetString(fmt.Sprintf("answer to %d", j.n()))
		} else {
			value.SetInt(scoreOf(j.n()))
		}
		args = append(args, arg)
	}
	return m.Call(args)[0]
}

// scoreOf is what the suite says of a finished job besides its result.
func scoreOf(n int64) int64 { return 7*n + 1 }

func jobsOf(v reflect.Value) []job {
	jobs := make([]job, v.Len())
	for i := range jobs {
		jobs[i] = job{v.Index(i)}
	}
	return jobs
}

func (q queue) claim(ctx context.Context, n int) ([]job, error) {
	out, err := q.call(ctx, "Claim", n)
	return jobsOf(out[0]), err
}

// complete completes the jobs; where taking a job already removed it, nothing is left to do.
func (q queue) complete(ctx context.Context, jobs ...job) error {
	if !q.has("Complete") {
		return nil
	}
	return q.settle(ctx, "Complete", jobs...)
}

// settle calls a method that settles jobs, by its name: Fail for the first of them.
func (q queue) settle(ctx context.Context, method string, jobs ...job) error {
	switch method {
	case "Fail":
		return q.fail(ctx, jobs[0], errCause)
	case "Requeue":
		return q.requeue(ctx, 0, jobs...)
	}
	_, err := q.call(ctx, method, jobs)
	return err
}

func (q queue) fail(ctx context.Context, j job, cause error) error {
	_, err := q.call(ctx, "Fail", j.v.Interface(), cause)
	return err
}

func (q queue) requeue(ctx context.Context, delay time.Duration, jobs ...job) error {
	args := []any{delay, jobs}
	if m := q.v.MethodByName("Requeue").Type(); m.NumIn() == 2 {
		args = args[1:]
	}
	_, err := q.call(ctx, "Requeue", args...)
	return err
}

func (q queue) completeAndClaim(ctx context.Context, done []job, n int) ([]job, error) {
	out, err := q.call(ctx, "CompleteAndClaim", done, n)
	return jobsOf(out[0]), err
}

// enqueue adds a job with that number and returns its key, if it is told.
func (q queue) enqueue(ctx context.Context, n int) (any, error) {
	out, err := q.call(ctx, "Enqueue", q.newJob(int64(n)))
	if len(out) == 0 {
		return nil, err
	}
	return out[0].Interface(), err
}

// enqueueMany adds jobs with the numbers from first to last and returns their keys.
func (q queue) enqueueMany(ctx context.Context, first, last int) ([]any, error) {
	method := q.v.MethodByName("EnqueueMany").Type()
	news := reflect.MakeSlice(method.In(method.NumIn()-1), 0, last-first+1)
	for n := first; n <= last; n++ {
		news = reflect.Append(news, reflect.ValueOf(q.newJob(int64(n))))
	}
	out, err := q.call(ctx, "EnqueueMany", news.Interface())
	if len(out) == 0 {
		return nil, err
	}
	keys := make([]any, out[0].Len())
	for i := range keys {
		keys[i] = out[0].Index(i).Interface()
	}
	return keys, err
}

// sweep calls Recover or Redrive.
func (q queue) sweep(ctx context.Context, method string, limit int) (int, error) {
	out, err := q.call(ctx, method, limit)
	return int(out[0].Int()), err
}

func (q queue) purge(ctx context.Context, olderThan time.Duration, limit int) (int, error) {
	args := []any{olderThan, limit}
	if q.v.MethodByName("Purge").Type().NumIn() == 2 {
		args = args[1:]
	}
	out, err := q.call(ctx, "Purge", args...)
	return int(out[0].Int()), err
}

// withTx returns the queue inside the caller's transaction.
func (q queue) withTx(tx any) queue {
	q.v = q.v.MethodByName("WithTx").Call([]reflect.Value{reflect.ValueOf(tx)})[0]
	return q
}

// session is a span of work after which the claims of a worker are settled:
// the transaction of a package whose claim is the row lock, nothing otherwise.
func (q queue) session(ctx context.Context) (s queue, commit func() error, end func(), err error) {
	if !q.has("Hold") {
		return q, func() error { return nil }, func() {}, nil
	}
	out, err := q.call(ctx, "Hold")
	if err != nil {
		return q, nil, nil, err
	}
	s = q
	s.v = out[0]
	commit = func() error {
		_, err := s.call(ctx, "Commit")
		return err
	}
	return s, commit, func() { s.v.MethodByName("Close").Call(nil) }, nil
}

// newJob returns a NewJob with that number and everything else that the table
// needs filled in.
func (q queue) newJob(n int64) any {
	method := q.v.MethodByName("Enqueue").Type()
	v := reflect.New(method.In(method.NumIn() - 1)).Elem()
	set := func(name string, to any) {
		f := v.FieldByName(name)
		switch {
		case !f.IsValid():
		case f.Kind() == reflect.Pointer:
			f.Set(reflect.New(f.Type().Elem()))
			f.Elem().Set(reflect.ValueOf(to).Convert(f.Type().Elem()))
		default:
			f.Set(reflect.ValueOf(to).Convert(f.Type()))
		}
	}
	set("N", n)
	set("Seq", n)
	set("At", n)
	set("Region", "r"+strconv.FormatInt(n%3, 10))
	set("Kind", "mail")
	if f := v.FieldByName("ID"); f.IsValid() {
		switch f.Kind() {
		case reflect.String:
			f.SetString(fmt.Sprintf("00000000-0000-4000-8000-%012d", n))
		case reflect.Int64:
			f.SetInt(n)
		case reflect.Slice:
			f.SetBytes(fmt.Appendf(nil, "%016d", n))
		}
	}
	return v.Interface()
}

// tx is a transaction of the caller, of whichever driver.
type tx struct {
	any      // what WithTx takes
	commit   func() error
	rollback func() error
	queryRow func(query string, dest ...any) error
}

func (t *table) begin(ctx context.Context, options ...string) (tx, error) {
	level := cmp.Or(strings.Join(options, ""), t.family.isolation)
	if t.family.oneLevel {
		level = ""
	}
	switch conn := t.conn.(type) {
	case *pgxpool.Pool:
		x, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.TxIsoLevel(level)})
		if err != nil {
			return tx{}, err
		}
		return tx{x,
			func() error { return x.Commit(ctx) },
			func() error { return x.Rollback(ctx) },
			func(query string, dest ...any) error { return x.QueryRow(ctx, query).Scan(dest...) },
		}, nil
	case *sql.DB:
		var o *sql.TxOptions
		switch level {
		case "read committed":
			o = &sql.TxOptions{Isolation: sql.LevelReadCommitted}
		case "repeatable read":
			o = &sql.TxOptions{Isolation: sql.LevelRepeatableRead}
		case "serializable":
			o = &sql.TxOptions{Isolation: sql.LevelSerializable}
		}
		x, err := conn.BeginTx(ctx, o)
		if err != nil {
			return tx{}, err
		}
		return tx{x, x.Commit, x.Rollback,
			func(query string, dest ...any) error { return x.QueryRowContext(ctx, query).Scan(dest...) },
		}, nil
	}
	panic(fmt.Sprintf("no transactions on %T", t.conn))
}
