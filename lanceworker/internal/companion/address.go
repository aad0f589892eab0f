package companion

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/seaweedfs/seaweedfs/weed/pb"
)

// grpcAddress is where admin's gRPC service listens. Where the address does not
// tell, admin is asked, as `weed worker` does; an admin that doesn't answer is
// taken to have it 10000 above its HTTP port.
func grpcAddress(ctx context.Context, admin string) string {
	address := pb.ServerAddress(admin)
	if ports := admin[strings.LastIndex(admin, ":")+1:]; !strings.Contains(ports, ".") {
		if port := askForPort(ctx, admin); port > 0 {
			address = pb.NewServerAddressWithGrpcPort(admin, port)
		}
	}
	return address.ToGrpcAddress()
}

func askForPort(ctx context.Context, admin string) int {
	for _, scheme := range []string{"http", "https"} {
		if port := askBy(ctx, scheme+"://"+admin+"/api/plugin/status"); port > 0 {
			return port
		}
	}
	return 0
}

// httpTimeout bounds the question.
const httpTimeout = 2 * time.Second

func askBy(ctx context.Context, url string) int {
	ctx, cancel := context.WithTimeout(ctx, httpTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0
	}
	// The connection is for one question; none stays behind.
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	var status struct {
		Port int `json:"worker_grpc_port"`
	}
	if response.StatusCode != http.StatusOK || json.NewDecoder(http.MaxBytesReader(nil, response.Body, 1<<20)).Decode(&status) != nil {
		return 0
	}
	if status.Port > 65535 {
		return 0
	}
	return status.Port
}
