package e2e

import (
	"net/http"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/seaweedfs/seaweed-lance/internal/weed/cluster"
)

// metrics are the series that a worker serves at one moment.
type metrics map[string]*dto.MetricFamily

// scrape reads a worker's /metrics as Prometheus would.
func scrape(t *testing.T, w *cluster.Worker) metrics {
	t.Helper()
	status, body, err := cluster.Get(t.Context(), w.URL("/metrics"))
	if err != nil || status != http.StatusOK {
		t.Fatalf("scraping the worker: status %d, %v", status, err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(body))
	if err != nil {
		t.Fatalf("parsing what the worker serves: %v", err)
	}
	return families
}

// value is that of a counter or gauge, or the number of observations of a
// histogram; labels are name and value in turn. A series that is not there
// counts as 0, as in a query.
func (m metrics) value(name string, labels ...string) float64 {
	var sum float64
	for _, s := range m["SeaweedFS_worker_"+name].GetMetric() {
		if hasLabels(s, labels) {
			sum += s.GetCounter().GetValue() + s.GetGauge().GetValue() + float64(s.GetHistogram().GetSampleCount())
		}
	}
	return sum
}

func hasLabels(s *dto.Metric, labels []string) bool {
	for i := 0; i+1 < len(labels); i += 2 {
		found := false
		for _, l := range s.GetLabel() {
			found = found || l.GetName() == labels[i] && l.GetValue() == labels[i+1]
		}
		if !found {
			return false
		}
	}
	return true
}
