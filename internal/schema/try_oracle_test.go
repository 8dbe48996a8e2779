package schema

import (
	"fmt"
	"os"
	"testing"

	"github.com/qgen-dev/qgen/internal/source"
)

func TestTry(t *testing.T) {
	for _, path := range os.Args[1:] {
		if len(path) < 4 || path[len(path)-4] != '.' {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		var errs source.ErrorList
		c, _ := Read("oracle", []*source.File{source.NewFile(path, data)}, &errs)
		fmt.Println("=====", path)
		if os.Getenv("BRIEF") == "" {
			fmt.Print(dump(c, everything))
		} else {
			for _, u := range c.Unread {
				fmt.Println("unread", u.Table, u.Err.Detail())
			}
			for _, tb := range c.Tables {
				for _, g := range tb.Gaps {
					fmt.Println("gap", g.Detail())
				}
			}
		}
		if errs.Len() > 0 {
			fmt.Println(errs.Detail())
		}
		checkPlaces(t, c, &errs)
	}
}
