package session_test

import (
	"context"
	"fmt"
	"log"

	"github.com/seaweedfs/seaweed-lance/session"
)

// One session serves everything in a process: open the table each time that it is needed.
func Example() {
	ctx := context.Background()
	s, err := session.New(session.Options{MetadataBytes: 64 << 20})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	t, err := s.Open(ctx, session.Directory("../testdata/deletions"))
	if err != nil {
		log.Fatal(err)
	}
	rows, err := t.Scan(ctx, session.ScanOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Close()
	n := int64(0)
	for batch, err := range rows.All(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		n += batch.NumRows()
	}
	fmt.Println(n == int64(t.Rows()), len(t.Fragments()) > 0)
	// Output: true true
}

// A look at many tables is cheap where nothing has changed.
func ExampleSession_Recent() {
	s, err := session.New(session.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	for _, dir := range []string{"../testdata/types_22", "../testdata/many_appends"} {
		v, err := s.Recent(context.Background(), session.Directory(dir))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(v.Version)
	}
	// Output:
	// 3
	// 40
}
