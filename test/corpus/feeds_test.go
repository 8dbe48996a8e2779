package corpus

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/qgen-dev/qgen/test/corpus/gen/feedsma"
	"github.com/qgen-dev/qgen/test/corpus/gen/feedsmy"
	"github.com/qgen-dev/qgen/test/corpus/gen/feedsold"
	"github.com/qgen-dev/qgen/test/corpus/gen/feedspg"
	"github.com/qgen-dev/qgen/test/corpus/gen/feedssql"
	"github.com/qgen-dev/qgen/test/corpus/gen/sheetsmy"
	"github.com/qgen-dev/qgen/test/servers"
)

// feed is a row of feeds or sheets: as it is to be, or as a claim has read it.
type feed struct {
	url     string
	edition int32
	note    *string
	weight  *int32
	asked   int32
	job     any
}

// reader puts feeds into a table and takes them out of it by one package.
type reader struct {
	one      func(ctx context.Context, f feed) (string, error)
	many     func(ctx context.Context, feeds []feed) ([]string, error)
	claim    func(ctx context.Context, limit int) ([]feed, error)
	complete func(ctx context.Context, f feed) error
	recover  func(ctx context.Context, limit int) (int, error)
}

// readerOf makes a reader of what the methods of a package take and return.
func readerOf[J, N any, K comparable](one func(context.Context, N) (K, error), many func(context.Context, []N) ([]K, error), claim func(context.Context, int) ([]J, error),
	complete func(context.Context, ...J) error, again func(context.Context, int) (int, error), of func(feed) N, read func(J) feed,
) reader {
	return reader{
		one: func(ctx context.Context, f feed) (string, error) {
			key, err := one(ctx, of(f))
			return fmt.Sprint(key), err
		},
		many: func(ctx context.Context, feeds []feed) (texts []string, err error) {
			var news []N
			for _, f := range feeds {
				news = append(news, of(f))
			}
			keys, err := many(ctx, news)
			for _, key := range keys {
				texts = append(texts, fmt.Sprint(key))
			}
			return texts, err
		},
		claim: func(ctx context.Context, limit int) (feeds []feed, err error) {
			jobs, err := claim(ctx, limit)
			for _, j := range jobs {
				f := read(j)
				f.job = j
				feeds = append(feeds, f)
			}
			return feeds, err
		},
		complete: func(ctx context.Context, f feed) error { return complete(ctx, f.job.(J)) },
		recover:  again,
	}
}

// TestFeeds puts feeds that are there already: their rows are changed, whoever has them.
func TestFeeds(t *testing.T) {
	older := []string{"mysql56", "mysql97"}
	for _, server := range []string{"postgres10", "postgres18"} {
		onEach(t, "postgresql", []string{server}, func(t *testing.T, b base) {
			of := func(q *feedssql.Queue) reader {
				return readerOf(q.Enqueue, q.EnqueueMany, q.Claim, q.Complete, q.Recover,
					func(f feed) feedssql.NewJob {
						return feedssql.NewJob{URL: f.url, Edition: f.edition, Note: f.note, Weight: f.weight}
					},
					func(j feedssql.Job) feed { return feed{url: j.URL, edition: j.Edition, asked: j.Asked} })
			}
			b.feeds(t, "feeds", of(feedssql.New(b.DB)), func(tx *sql.Tx) reader { return of(feedssql.New(b.DB).WithTx(tx)) }, feedssql.ErrLost)
		}, "feeds/postgresql.sql")
		t.Run(server+" pgx", func(t *testing.T) {
			driver, dsn := place(t, "postgresql", server)
			b := base{engine: "postgresql", DB: servers.Open(t, driver, dsn, 2)}
			create(t, b.DB, "feeds/postgresql.sql")
			pool, err := pgxpool.New(t.Context(), dsn)
			good(t, err)
			t.Cleanup(pool.Close)
			q := feedspg.New(pool)
			b.feedsAtOnce(t, "feeds", readerOf(q.Enqueue, q.EnqueueMany, q.Claim, q.Complete, q.Recover,
				func(f feed) feedspg.NewJob {
					return feedspg.NewJob{URL: f.url, Edition: f.edition, Note: f.note, Weight: f.weight}
				},
				func(j feedspg.Job) feed { return feed{url: j.URL, edition: j.Edition, asked: j.Asked} }), feedspg.ErrLost)
		})
	}
	onEach(t, "mysql", []string{"mysql97"}, func(t *testing.T, b base) {
		of := func(q *feedsmy.Queue) reader {
			return readerOf(q.Enqueue, q.EnqueueMany, q.Claim, q.Complete, q.Recover,
				func(f feed) feedsmy.NewJob {
					return feedsmy.NewJob{URL: f.url, Edition: f.edition, Note: f.note, Weight: f.weight}
				},
				func(j feedsmy.Job) feed { return feed{url: j.URL, edition: j.Edition, asked: j.Asked} })
		}
		b.feeds(t, "feeds", of(feedsmy.New(b.DB)), func(tx *sql.Tx) reader { return of(feedsmy.New(b.DB).WithTx(tx)) }, feedsmy.ErrLost)
	}, "feeds/mysql.sql")
	onEach(t, "mysql", older, func(t *testing.T, b base) {
		of := func(q *feedsold.Queue) reader {
			return readerOf(q.Enqueue, q.EnqueueMany, q.Claim, q.Complete, q.Recover,
				func(f feed) feedsold.NewJob {
					return feedsold.NewJob{URL: f.url, Edition: f.edition, Note: f.note, Weight: f.weight}
				},
				func(j feedsold.Job) feed { return feed{url: j.URL, edition: j.Edition, asked: j.Asked} })
		}
		b.feeds(t, "feeds", of(feedsold.New(b.DB)), func(tx *sql.Tx) reader { return of(feedsold.New(b.DB).WithTx(tx)) }, feedsold.ErrLost)
	}, "feeds/mysql.sql")
	onEach(t, "mysql", older, func(t *testing.T, b base) {
		var n atomic.Int64
		of := func(q *sheetsmy.Queue) reader {
			return readerOf(q.Enqueue, q.EnqueueMany, q.Claim, q.Complete, q.Recover,
				func(f feed) sheetsmy.NewJob {
					return sheetsmy.NewJob{ID: fmt.Sprintf("%036d", n.Add(1)), URL: f.url, Edition: f.edition, Note: f.note, Weight: f.weight}
				},
				func(j sheetsmy.Job) feed { return feed{url: j.URL, edition: j.Edition, asked: j.Asked} })
		}
		b.feeds(t, "sheets", of(sheetsmy.New(b.DB)), func(tx *sql.Tx) reader { return of(sheetsmy.New(b.DB).WithTx(tx)) }, sheetsmy.ErrLost)

		// A key that another sheet has is an error, and that sheet stays as it is.
		q := sheetsmy.New(b.DB)
		key, err := q.Enqueue(t.Context(), sheetsmy.NewJob{ID: "mine", URL: "a", Edition: 1})
		good(t, err)
		if other, err := q.Enqueue(t.Context(), sheetsmy.NewJob{ID: key, URL: "b", Edition: 2}); err == nil || other != "" {
			t.Errorf("key %s, %v", other, err)
		}
		b.want(t, "SELECT id, url, edition FROM sheets", "mine a 1")
	}, "feeds/mysql.sql")
	onEach(t, "mariadb", []string{"mariadb1011"}, func(t *testing.T, b base) {
		of := func(q *feedsma.Queue) reader {
			return readerOf(q.Enqueue, q.EnqueueMany, q.Claim, q.Complete, q.Recover,
				func(f feed) feedsma.NewJob {
					return feedsma.NewJob{URL: f.url, Edition: f.edition, Note: f.note, Weight: f.weight}
				},
				func(j feedsma.Job) feed { return feed{url: j.URL, edition: j.Edition, asked: j.Asked} })
		}
		b.feeds(t, "feeds", of(feedsma.New(b.DB)), func(tx *sql.Tx) reader { return of(feedsma.New(b.DB).WithTx(tx)) }, feedsma.ErrLost)
	}, "feeds/mysql.sql")
}

// feeds proves one package over one of the tables.
func (b base) feeds(t *testing.T, table string, q reader, within func(*sql.Tx) reader, lost error) {
	ctx := t.Context()
	columns := "SELECT url, edition, note, asked, weight, state FROM " + table + " ORDER BY url"
	note, heavy, light := "a note", int32(7), int32(3)

	// The row that is there gets what the job has, nil leaves what the row has, and its key is told.
	first, err := q.one(ctx, feed{url: "a", edition: 1, note: &note, weight: &heavy})
	good(t, err)
	again, err := q.one(ctx, feed{url: "a", edition: 2, weight: &light})
	if err != nil || again != first {
		t.Errorf("key %s, not %s: %v", again, first, err)
	}
	b.want(t, columns, "a 2 a note 2 7 new")
	// Once more with all as it is, but for the counts.
	b.run(t, "UPDATE "+table+" SET asked = 1, rev = 0")
	keys, err := q.many(ctx, []feed{{url: "b", edition: 1}, {url: "a", edition: 2}, {url: "b", edition: 3}})
	if err != nil || len(keys) != 3 || keys[1] != first || keys[0] != keys[2] || keys[0] == first {
		t.Errorf("keys %s, %v", keys, err)
	}
	b.want(t, columns, "a 2 a note 2 7 new", "b 3 null 2 0 new")
	b.want(t, "SELECT id FROM "+table+" WHERE url = 'b'", keys[0])

	// What is wrong otherwise is an error, and takes the call with it.
	if b.engine == "postgresql" {
		if keys, err := q.many(ctx, []feed{{url: "c", edition: 1}, {url: "a", edition: -1}}); err == nil || keys != nil {
			t.Errorf("keys %s, %v", keys, err)
		}
		b.want(t, columns, "a 2 a note 2 7 new", "b 3 null 2 0 new")
	}

	// In the caller's transaction it goes back with that.
	tx, err := b.BeginTx(ctx, nil)
	good(t, err)
	if key, err := within(tx).one(ctx, feed{url: "a", edition: 9}); err != nil || key != first {
		t.Errorf("key %s, %v", key, err)
	}
	_, err = within(tx).many(ctx, []feed{{url: "c", edition: 1}, {url: "b", edition: 9}})
	good(t, err)
	good(t, tx.Rollback())
	b.want(t, columns, "a 2 a note 2 7 new", "b 3 null 2 0 new")

	// A row that is held stays held, and its worker is turned away, as the version says.
	held, err := q.claim(ctx, 10)
	if err != nil || len(held) != 2 {
		t.Fatalf("%v, %v", held, err)
	}
	if key, err := q.one(ctx, feed{url: "a", edition: 4}); err != nil || key != first {
		t.Errorf("key %s, %v", key, err)
	}
	b.want(t, columns, "a 4 a note 3 7 busy", "b 3 null 2 0 busy")
	if more, err := q.claim(ctx, 10); err != nil || len(more) != 0 {
		t.Errorf("%v, %v", more, err)
	}
	for _, f := range held {
		if err := q.complete(ctx, f); f.url == "a" && !errors.Is(err, lost) || f.url == "b" && err != nil {
			t.Errorf("%s: %v", f.url, err)
		}
	}
	b.want(t, columns, "a 4 a note 3 7 busy")
	b.run(t, "DELETE FROM "+table)
	b.feedsAtOnce(t, table, q, lost)
}

// feedsAtOnce has four producers put the same feeds while two consumers read them: no row is held
// twice, each call of a producer is in the count of the feed that is read at the end, and that is of
// the last edition.
func (b base) feedsAtOnce(t *testing.T, table string, q reader, lost error) {
	ctx := t.Context()
	const producers, rounds, urls = 4, 20, 10
	var mu sync.Mutex
	held, asked, last := map[string]bool{}, 0, map[string]int32{} // by url
	latest := [producers]map[string]int32{}
	take := func() (n int) {
		feeds, err := q.claim(ctx, 1+rand.IntN(3))
		if err != nil {
			t.Error(err)
			return 0
		}
		for _, f := range feeds {
			mu.Lock()
			if held[f.url] {
				t.Errorf("%s is held twice", f.url)
			}
			held[f.url] = true
			mu.Unlock()
			time.Sleep(rand.N(2 * time.Millisecond))
			mu.Lock()
			switch err := q.complete(ctx, f); {
			case err == nil:
				asked += int(f.asked)
				last[f.url] = f.edition
				delete(held, f.url)
			case errors.Is(err, lost):
				delete(held, f.url) // it stays so until it is recovered
			default:
				t.Error(err)
			}
			mu.Unlock()
		}
		return len(feeds)
	}
	var making, reading sync.WaitGroup
	var made atomic.Bool
	for p := range producers {
		latest[p] = map[string]int32{}
		making.Go(func() {
			for round := range rounds {
				var feeds []feed
				for i := range urls {
					edition := int32(1 + (round*urls+i)*producers + p)
					feeds = append(feeds, feed{url: fmt.Sprint("u", i), edition: edition})
				}
				if p%2 == 0 {
					slices.Reverse(feeds)
				}
				for _, f := range feeds {
					latest[p][f.url] = f.edition
				}
				if round%2 == 0 {
					if _, err := q.many(ctx, feeds); err != nil {
						t.Error(err)
					}
					continue
				}
				for _, f := range feeds {
					if _, err := q.one(ctx, f); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	for range 2 {
		reading.Go(func() {
			for !made.Load() {
				take()
			}
		})
	}
	making.Wait()
	made.Store(true)
	reading.Wait()
	for end := time.Now().Add(20 * time.Second); ; {
		var n int
		good(t, b.QueryRow("SELECT count(*) FROM "+table).Scan(&n))
		if n == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%d feeds are left", n)
		}
		if take() == 0 {
			time.Sleep(50 * time.Millisecond)
			_, err := q.recover(ctx, 100)
			good(t, err)
		}
	}
	if asked != producers*rounds*urls {
		t.Errorf("%d calls are in the feeds that were read, of %d", asked, producers*rounds*urls)
	}
	for i := range urls {
		url := fmt.Sprint("u", i)
		if !slices.ContainsFunc(latest[:], func(of map[string]int32) bool { return of[url] == last[url] }) {
			t.Errorf("%s was read last in edition %d, which nobody put last", url, last[url])
		}
	}
}
