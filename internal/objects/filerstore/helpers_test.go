package filerstore

import (
	"context"
	"crypto/md5"
	"fmt"
	"sync/atomic"

	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"
)

func md5hex(p []byte) string { return fmt.Sprintf("%x", md5.Sum(p)) }

func md5hexOf(sum []byte) string { return fmt.Sprintf("%x", sum) }

// failingFiler answers creates with an error, having applied them or not.
type failingFiler struct {
	code    filer_pb.FilerError
	applies bool
	calls   atomic.Int32
}

// install makes f answer so, by way of the error that act returns.
func (b *failingFiler) install(f *fakeFiler) {
	step := func(ctx context.Context, apply func() error) error {
		if b.calls.Add(1); b.applies {
			apply()
		}
		return answerError{code: b.code}
	}
	f.plan("CreateEntry", step, step, step, step, step, step)
}

// answerError is an answer that reports an error in its body.
type answerError struct{ code filer_pb.FilerError }

func (answerError) Error() string { return "the store failed" }
