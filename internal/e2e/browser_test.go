package e2e

import (
	"context"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/weed/cluster"
)

// browsers are names of a Chromium, the smallest first.
var browsers = []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"}

// browser is a headless Chromium.
type browser struct {
	program string
	home    string
}

// startBrowser finds one; without any the test is skipped, except under CI.
func startBrowser(t *testing.T) *browser {
	t.Helper()
	for _, name := range browsers {
		if program, err := exec.LookPath(name); err == nil {
			return &browser{program: program, home: t.TempDir()}
		}
	}
	if os.Getenv("CI") != "" {
		t.Fatalf("none of %v is installed", browsers)
	}
	t.Skipf("none of %v is installed", browsers)
	return nil
}

// browseLimit bounds one visit.
const browseLimit = 2 * time.Minute

// visit loads a page, lets its scripts run, and returns its document and a
// picture of it.
func (b *browser) visit(t *testing.T, url, name string) (document string) {
	t.Helper()
	picture := filepath.Join(screenshots(t), name+".png")
	ctx, cancel := context.WithTimeout(t.Context(), browseLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.program,
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
		"--user-data-dir="+filepath.Join(b.home, "profile"), "--window-size=2400,1800", "--virtual-time-budget=5000",
		"--screenshot="+picture, "--dump-dom", url)
	cmd.Dir = b.home
	cmd.Env = []string{"HOME=" + b.home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + b.home, "LANG=C.UTF-8"}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("visiting %s: %v\n%s", url, err, &stderr)
	}
	if n := colours(t, picture); n < 10 {
		t.Errorf("the picture of %s has %d colours", url, n)
	}
	return string(out)
}

// screenshots is where pictures go: the directory that SEAWEED_LANCE_SCREENSHOTS
// names, to be looked at, or one that goes with the test.
func screenshots(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("SEAWEED_LANCE_SCREENSHOTS")
	if dir == "" {
		return t.TempDir()
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return absolute(t, dir)
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}

// colours counts those of a picture: a page that was not drawn has one.
func colours(t *testing.T, name string) int {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatalf("picture %s: %v", name, err)
	}
	type colour struct{ r, g, b uint32 }
	found := make(map[colour]bool)
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y += 2 {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x += 2 {
			r, g, b, _ := img.At(x, y).RGBA()
			found[colour{r, g, b}] = true
		}
	}
	return len(found)
}

// TestAdminPagesInBrowser looks at the pages as a person does.
func TestAdminPagesInBrowser(t *testing.T) {
	t.Parallel()
	b := startBrowser(t)
	c := startCluster(t, cluster.Options{Buckets: []string{"lab"}})
	c.typesTable(t)
	if _, err := c.Admin().Detect(t.Context(), compactJob, 0); err != nil {
		t.Fatal(err)
	}
	c.pageShows(t, typesPage, showsTypes...)
	for name, p := range map[string]struct {
		page string
		want []string
	}{
		"table": {typesPage, showsTypes},
		"rows":  {typesPage + "/data", sampleOfTypes},
	} {
		document := b.visit(t, "http://"+c.AdminAddress()+p.page, name)
		if err := missing(pageText(document), p.want); err != nil {
			t.Errorf("%s: %v", p.page, err)
		}
	}
}
