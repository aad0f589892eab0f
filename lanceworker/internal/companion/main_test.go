package companion

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// What SeaweedFS's packages start when they are loaded.
		goleak.IgnoreAnyFunction("github.com/seaweedfs/seaweedfs/weed/stats.bucketMetricTTLControl"),
		goleak.IgnoreAnyFunction("github.com/seaweedfs/seaweedfs/weed/glog.(*loggingT).flushDaemon"),
		goleak.IgnoreAnyFunction("go.opencensus.io/stats/view.(*worker).start"))
}
