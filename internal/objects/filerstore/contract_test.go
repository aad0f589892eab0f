package filerstore

import (
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/storetest"
)

// TestContract runs the contract of all stores against a fake cluster of two
// filers, plain, with encrypted volumes and in a bucket that encrypts.
func TestContract(t *testing.T) {
	for name, c := range map[string]struct{ cipher, sses3 bool }{"plain": {false, false}, "cipher": {true, false}, "SSE-S3": {false, true}} {
		t.Run(name, func(t *testing.T) {
			storetest.Run(t, func(tb testing.TB) objects.Store {
				cl := newFake(tb.(*testing.T), 2)
				cl.conf.Cipher = c.cipher
				if c.sses3 {
					cl.encrypts("AES256")
					cl.putKEK(kek)
				}
				return cl.store()
			})
		})
	}
}
