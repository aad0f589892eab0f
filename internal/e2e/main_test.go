// Package e2e tests a real weed with these jobs: clusters of processes on free
// ports, tables that real Lance wrote, and what real Lance reads afterwards.
//
// # The test binary is the weed
//
// TestMain looks at an environment variable; with it, the binary does not run
// tests but is the custom weed (internal/weed/cli). So a cluster is made of the
// very code under test, and nothing is built twice.
//
// # Adding a cluster test
//
//	func TestSomething(t *testing.T) {
//		t.Parallel()
//		c := startCluster(t, cluster.Options{Buckets: []string{"lab"}})
//		path := c.makeTable(t, "lab", "ml", "vectors")       // lab/ml/vectors
//		c.upload(t, path, os.DirFS("…/vectors.lance"))       // through the S3 gateway
//		run := c.runJob(t, "lance_compact")                  // as the button in admin does
//		r := c.weed(t, "lance", "inspect", "-json", "-filer="+c.Filer(), path)
//		…
//	}
//
// The zero Options are one `weed mini`. Separate and Workers make it a server,
// an admin and workers in processes of their own; withKeys, withEncryption and
// withTLS make it a secured one, and can be combined. Everything ends with the
// test, in order, and a process that ended by itself or badly fails it; the ends
// of all logs are shown when the test has failed. What has to happen after a
// while is waited for with eventually, never with a sleep.
//
// Tests that need Python and real Lance are in oracle*_test.go and say so when
// it is missing.
package e2e

import (
	"os"
	"testing"

	util_http "github.com/seaweedfs/seaweedfs/weed/util/http"

	"github.com/seaweedfs/seaweed-lance/internal/weed/cli"
	_ "github.com/seaweedfs/seaweed-lance/lanceworker/weedcmd"
)

// asWeed is the variable that makes the test binary a weed.
const asWeed = "SEAWEED_LANCE_TEST_AS_WEED"

func TestMain(m *testing.M) {
	if os.Getenv(asWeed) != "" {
		os.Exit(cli.Main(os.Args[1:]))
	}
	// What weed's commands do before they start, for the packages under test that
	// are used in this process.
	util_http.InitGlobalHttpClient()
	setKeys()
	os.Exit(m.Run())
}
