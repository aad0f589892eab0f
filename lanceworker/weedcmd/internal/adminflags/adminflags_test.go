package adminflags

import (
	"testing"

	"github.com/seaweedfs/seaweedfs/weed/pb"
	flag "github.com/seaweedfs/seaweedfs/weed/util/fla9"
)

func TestOfWorker(t *testing.T) {
	for value, want := range map[string]string{"": "localhost:12535", " ": "localhost:12535", "a:1": "a:1", " a:1.2 ": "a:1.2"} {
		flags := flag.NewFlagSet("worker", flag.ContinueOnError)
		flags.String("admin", "localhost:12535", "")
		if err := flags.Set("admin", value); err != nil {
			t.Fatal(err)
		}
		if got := OfWorker(flags); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
	if got := OfWorker(flag.NewFlagSet("worker", flag.ContinueOnError)); got != "" {
		t.Errorf("without the flag: %q", got)
	}
}

func TestOfMini(t *testing.T) {
	for bind, want := range map[string]string{
		"": "127.0.0.1:22535", "0.0.0.0": "127.0.0.1:22535", "10.1.2.3": "10.1.2.3:22535", "::": "[::1]:22535", "[::]": "[::1]:22535", "fd00::1": "[fd00::1]:22535", "box": "box:22535",
	} {
		flags := flag.NewFlagSet("mini", flag.ContinueOnError)
		flags.String("admin.worker.ip", bind, "")
		port, grpcPort := flags.Int("admin.port", 0, ""), flags.Int("admin.port.grpc", 0, "")
		if got := OfMini(flags); got != "" {
			t.Errorf("without a port: %q", got)
		}
		// As mini does when it starts.
		*port, *grpcPort = 12535, 22535
		if got := pb.ServerAddress(OfMini(flags)).ToGrpcAddress(); got != want {
			t.Errorf("%q: %q, want %q", bind, got, want)
		}
		*grpcPort = 4711
		if got := pb.ServerAddress(OfMini(flags)); got.ToGrpcAddress() == want || got.ToHttpAddress() == got.ToGrpcAddress() {
			t.Errorf("a port of its own: %s", got)
		}
	}
	if got := OfMini(flag.NewFlagSet("mini", flag.ContinueOnError)); got != "" {
		t.Errorf("without the flags: %q", got)
	}
}
