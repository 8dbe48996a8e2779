package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib" // the database/sql driver "pgx"
	_ "modernc.org/sqlite"             // the database/sql driver "sqlite", in pure Go

	"github.com/qgen-dev/qgen/example/situations/situation"
)

// scratch makes a database (on PostgreSQL a schema) with the tables of a situation, the indexes that are
// advised and the tables that packages bring along. drop closes and removes it.
func scratch(ctx context.Context, s situation.Situation, p situation.Program, dsn string) (db *sql.DB, drop func() error, err error) {
	name := "situation_" + strings.ToLower(rand.Text()[:10])
	switch p.Engine {
	case "sqlite":
		db, drop, err = scratchSQLite(name)
	case "postgresql":
		var own string
		if own, err = searching(dsn, name); err == nil {
			db, drop, err = scratchServer(ctx, "pgx", dsn, own, "SCHEMA "+name, " CASCADE")
		}
	default:
		var config *mysql.Config
		if config, err = mysql.ParseDSN(dsn); err == nil {
			config.DBName = name
			db, drop, err = scratchServer(ctx, "mysql", dsn, config.FormatDSN(), "DATABASE "+name, "")
		}
	}
	if err != nil {
		return nil, nil, err
	}
	if err := furnish(ctx, s, p, db); err != nil {
		return nil, nil, errors.Join(err, drop())
	}
	return db, drop, nil
}

// scratchSQLite makes a file. SQLite has one writer, so that one connection will do.
func scratchSQLite(name string) (*sql.DB, func() error, error) {
	folder, err := os.MkdirTemp("", name)
	if err != nil {
		return nil, nil, err
	}
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(filepath.Join(folder, "db"))+"?_txlock=immediate&_pragma=busy_timeout(10000)")
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(folder))
	}
	db.SetMaxOpenConns(1)
	return db, func() error { return errors.Join(db.Close(), os.RemoveAll(folder)) }, nil
}

// scratchServer makes a database or a schema on a server, which own then opens.
func scratchServer(ctx context.Context, driver, dsn, own, what, cascade string) (*sql.DB, func() error, error) {
	admin, err := sql.Open(driver, dsn)
	if err != nil {
		return nil, nil, err
	}
	if _, err := admin.ExecContext(ctx, "CREATE "+what); err != nil {
		return nil, nil, errors.Join(err, admin.Close())
	}
	db, err := sql.Open(driver, own)
	drop := func() error {
		var closed error
		if db != nil {
			closed = db.Close()
		}
		_, err := admin.ExecContext(ctx, "DROP "+what+cascade)
		return errors.Join(closed, err, admin.Close())
	}
	if err != nil {
		return nil, nil, errors.Join(err, drop())
	}
	return db, drop, nil
}

// searching has a URL of a server look for tables in a schema.
func searching(dsn, schema string) (string, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return "", err
	}
	query := u.Query()
	query.Set("search_path", schema)
	u.RawQuery = query.Encode()
	return u.String(), nil
}

// furnish creates the tables, and what stands in the schema folders of the packages: once what
// two of them want.
func furnish(ctx context.Context, s situation.Situation, p situation.Program, db *sql.DB) error {
	scripts := []string{p.Engine + ".sql"}
	for _, name := range p.Packages {
		own, err := fs.Glob(s.Files, "gen/"+name+"/schema/*.sql")
		if err != nil {
			return err
		}
		if len(own) == 0 {
			return fmt.Errorf("%s embeds no schema of %s", s.Folder, name)
		}
		scripts = append(scripts, own...)
	}
	made := map[string]bool{}
	for _, script := range scripts {
		text, err := s.Files.ReadFile(script)
		if err != nil {
			return err
		}
		for statement := range strings.SplitSeq(string(text), ";\n") {
			statement = said(statement)
			if statement == "" || made[statement] {
				continue
			}
			made[statement] = true
			if _, err := db.ExecContext(ctx, statement); err != nil {
				return fmt.Errorf("%s: %w", script, err)
			}
		}
	}
	return nil
}

// said returns a script without its comments, "" where it has nothing else.
func said(script string) string {
	var b strings.Builder
	for line := range strings.Lines(script) {
		if bare := strings.TrimSpace(line); bare != "" && !strings.HasPrefix(bare, "--") {
			b.WriteString(line)
		}
	}
	return b.String()
}
