package cluster

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// What weed starts when it is linked in.
		goleak.IgnoreAnyFunction("github.com/seaweedfs/seaweedfs/weed/stats.bucketMetricTTLControl"),
		goleak.IgnoreAnyFunction("github.com/seaweedfs/seaweedfs/weed/glog.(*loggingT).flushDaemon"),
		goleak.IgnoreAnyFunction("go.opencensus.io/stats/view.(*worker).start"))
}
