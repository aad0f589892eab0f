package filerstore

import (
	"testing"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/storetest"
)

// TestContract runs the contract of all stores against a fake cluster of two
// filers, plain and with encrypted volumes.
func TestContract(t *testing.T) {
	for name, cipher := range map[string]bool{"plain": false, "cipher": true} {
		t.Run(name, func(t *testing.T) {
			storetest.Run(t, func(tb testing.TB) objects.Store {
				cl := newFake(tb.(*testing.T), 2)
				cl.conf.Cipher = cipher
				return cl.store()
			})
		})
	}
}
