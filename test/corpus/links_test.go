package corpus

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/qgen-dev/qgen/test/corpus/gen/linksma"
	"github.com/qgen-dev/qgen/test/corpus/gen/linksmy"
	"github.com/qgen-dev/qgen/test/corpus/gen/linkspg"
	"github.com/qgen-dev/qgen/test/corpus/gen/linkssql"
)

// producer adds links by one package.
type producer struct {
	one  func(ctx context.Context, url string) (int64, bool, error)
	many func(ctx context.Context, urls []string) ([]int64, []bool, error)
}

// newLinks makes jobs of urls.
func newLinks[N any](urls []string, of func(url string) N) (news []N) {
	for _, url := range urls {
		news = append(news, of(url))
	}
	return news
}

// TestLinks adds what is there already: it is left out and told, and what else is wrong stays
// an error.
func TestLinks(t *testing.T) {
	onServers(t, "postgresql", func(t *testing.T, b base) {
		sqlProducer := func(q *linkssql.Queue) producer {
			of := func(url string) linkssql.NewJob { return linkssql.NewJob{URL: url} }
			return producer{
				func(ctx context.Context, url string) (int64, bool, error) { return q.Enqueue(ctx, of(url)) },
				func(ctx context.Context, urls []string) ([]int64, []bool, error) {
					return q.EnqueueMany(ctx, newLinks(urls, of))
				},
			}
		}
		b.links(t, sqlProducer(linkssql.New(b.DB)), func(tx *sql.Tx) producer { return sqlProducer(linkssql.New(b.DB).WithTx(tx)) }, "")
	}, "links/postgresql.sql")
	for _, server := range live["postgresql"] {
		t.Run(server+" pgx", func(t *testing.T) {
			_, dsn := place(t, "postgresql", server)
			pool, err := pgxpool.New(t.Context(), dsn)
			good(t, err)
			t.Cleanup(pool.Close)
			_, err = pool.Exec(t.Context(), "CREATE TABLE links (id bigserial PRIMARY KEY, url text NOT NULL UNIQUE, state text NOT NULL DEFAULT 'new')")
			good(t, err)
			q := linkspg.New(pool)
			key, added, err := q.Enqueue(t.Context(), linkspg.NewJob{URL: "a"})
			if err != nil || !added || key != 1 {
				t.Errorf("key %d, added %t, %v", key, added, err)
			}
			keys, many, err := q.EnqueueMany(t.Context(), []linkspg.NewJob{{URL: "a"}, {URL: "b"}, {URL: "b"}})
			if err != nil || !slices.Equal(many, []bool{false, true, false}) || keys[1] == 0 {
				t.Errorf("keys %d, added %t, %v", keys, many, err)
			}
		})
	}
	onServers(t, "mysql", func(t *testing.T, b base) {
		of := func(url string) linksmy.NewJob { return linksmy.NewJob{URL: url} }
		made := func(q *linksmy.Queue) producer {
			return producer{
				func(ctx context.Context, url string) (int64, bool, error) { return q.Enqueue(ctx, of(url)) },
				func(ctx context.Context, urls []string) ([]int64, []bool, error) {
					return q.EnqueueMany(ctx, newLinks(urls, of))
				},
			}
		}
		b.links(t, made(linksmy.New(b.DB)), func(tx *sql.Tx) producer { return made(linksmy.New(b.DB).WithTx(tx)) }, strings.Repeat("x", 41))
	}, "links/mysql.sql")
	onServers(t, "mariadb", func(t *testing.T, b base) {
		of := func(url string) linksma.NewJob { return linksma.NewJob{URL: url} }
		made := func(q *linksma.Queue) producer {
			return producer{
				func(ctx context.Context, url string) (int64, bool, error) { return q.Enqueue(ctx, of(url)) },
				func(ctx context.Context, urls []string) ([]int64, []bool, error) {
					return q.EnqueueMany(ctx, newLinks(urls, of))
				},
			}
		}
		b.links(t, made(linksma.New(b.DB)), func(tx *sql.Tx) producer { return made(linksma.New(b.DB).WithTx(tx)) }, strings.Repeat("x", 41))
	}, "links/mysql.sql")
}

// links proves one server's package; wrong is a url that the table does not take.
func (b base) links(t *testing.T, q producer, within func(*sql.Tx) producer, wrong string) {
	ctx := t.Context()
	one := func(q producer, url string, want bool) {
		t.Helper()
		if key, added, err := q.one(ctx, url); err != nil || added != want || (key != 0) != want {
			t.Errorf("%s: key %d, added %t, %v", url, key, added, err)
		}
	}
	many := func(q producer, urls string, want ...bool) {
		t.Helper()
		list := strings.Fields(urls)
		keys, added, err := q.many(ctx, list)
		if err != nil || !slices.Equal(added, want) {
			t.Fatalf("%s: added %t, %v", urls, added, err)
		}
		for i, url := range list {
			if added[i] {
				b.want(t, fmt.Sprintf("SELECT id FROM links WHERE url = '%s'", url), fmt.Sprint(keys[i]))
			}
		}
	}
	one(q, "a", true)
	one(q, "a", false)
	many(q, "b a c b d", true, false, true, false, true)
	many(q, "e f g", true, true, true)
	many(q, "e f g", false, false, false)

	// What else is wrong is an error, and takes the call with it.
	if _, added, err := q.one(ctx, wrong); err == nil || added {
		t.Errorf("added %t, %v", added, err)
	}
	if keys, added, err := q.many(ctx, []string{"h", "a", wrong}); err == nil || added != nil || keys != nil {
		t.Errorf("added %t, %v", added, err)
	}
	b.want(t, "SELECT url FROM links ORDER BY url", "a", "b", "c", "d", "e", "f", "g")

	// Numbers that are used up are no link that is there.
	if b.engine != "postgresql" {
		b.run(t, "DELETE FROM links WHERE url = 'g'", "ALTER TABLE links MODIFY id tinyint AUTO_INCREMENT", "INSERT INTO links (id, url) VALUES (127, 'g')")
		if _, added, err := q.one(ctx, "z"); err == nil || added {
			t.Errorf("added %t, %v", added, err)
		}
		if _, added, err := q.many(ctx, []string{"y", "z"}); err == nil || added != nil {
			t.Errorf("added %t, %v", added, err)
		}
		b.run(t, "ALTER TABLE links MODIFY id bigint AUTO_INCREMENT")
	}

	// A duplicate does not doom the caller's transaction.
	tx, err := b.BeginTx(ctx, nil)
	good(t, err)
	mine := within(tx)
	one(mine, "a", false)
	one(mine, "i", true)
	if _, added, err := mine.many(ctx, []string{"a", "j", "i", "k"}); err != nil || !slices.Equal(added, []bool{false, true, false, true}) {
		t.Errorf("added %t, %v", added, err)
	}
	good(t, tx.Commit())
	b.want(t, "SELECT count(*) FROM links", "10")

	// Of producers that add the same at the same moment one adds each.
	b.run(t, "DELETE FROM links")
	var mu sync.Mutex
	var group sync.WaitGroup
	times := map[string]int{}
	const total = 400
	for p := range 4 {
		group.Go(func() {
			for from := 0; from < total; from += 20 {
				var urls []string
				for i := range 20 {
					urls = append(urls, fmt.Sprint("u", from+i))
				}
				if p%2 == 0 {
					slices.Reverse(urls)
				}
				var told []bool
				if from%40 == 0 {
					var err error
					if _, told, err = q.many(ctx, urls); err != nil {
						t.Error(err)
						return
					}
				} else {
					for _, url := range urls {
						_, added, err := q.one(ctx, url)
						if err != nil {
							t.Error(err)
							return
						}
						told = append(told, added)
					}
				}
				mu.Lock()
				for i, added := range told {
					if added {
						times[urls[i]]++
					}
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	for url, n := range times {
		if n != 1 {
			t.Errorf("%s was added %d times", url, n)
		}
	}
	if len(times) != total {
		t.Errorf("%d links were added, want %d", len(times), total)
	}
	b.want(t, "SELECT count(*) FROM links", fmt.Sprint(total))
}
