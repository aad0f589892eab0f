package lease_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/seaweedfs/seaweed-lance/lease"
	"github.com/seaweedfs/seaweed-lance/session"
)

// A scan that may take long pins what it reads: no cleanup takes the version's files meanwhile.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.CopyFS(dir, os.DirFS("../testdata/many_appends")); err != nil {
		log.Fatal(err)
	}

	s, err := session.New(session.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	leases := lease.New(lease.Options{Holder: "example"})
	// When the process ends, the tags go: wait a little for those who still read.
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := leases.Close(ctx); err != nil {
			log.Print(err)
		}
	}()

	t, err := s.Open(ctx, session.Directory(dir))
	if err != nil {
		log.Fatal(err)
	}
	l, err := leases.Take(ctx, t)
	if err != nil {
		log.Fatal(err) // lease.ErrGone: open the table again
	}
	defer l.Release()
	rows, err := t.Scan(ctx, session.ScanOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Close()
	n := uint64(0)
	for batch, err := range rows.All(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		n += uint64(batch.NumRows())
	}
	fmt.Println(l.Pinned(), n == t.Rows())
	// Output: true true
}
