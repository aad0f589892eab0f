package cluster

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// configure writes all configuration files that weed looks for. Those that say
// nothing keep the machine's own files of that name out.
func (c *Cluster) configure() error {
	files := map[string]string{
		"security.toml": c.opt.Security, "master.toml": "", "volume.toml": "", "admin.toml": "",
		"filer.toml": fmt.Sprintf("[leveldb2]\nenabled = true\ndir = %q\n", filepath.Join(c.opt.Dir, "filerldb2")),
	}
	for _, dir := range []string{c.ConfigDir(), c.tempDir()} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("configuring a cluster: %w", err)
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(c.ConfigDir(), name), []byte(text), 0o600); err != nil {
			return fmt.Errorf("configuring a cluster: %w", err)
		}
	}
	return nil
}

func (c *Cluster) tempDir() string { return filepath.Join(c.opt.Dir, "tmp") }

// ownVariables begin the names of this module's own variables, which children
// get: a test binary is a weed because of one.
const ownVariables = "SEAWEED_LANCE_"

// environment is small on purpose: weed takes flags from variables of their
// names, such as IP or DIR, and settings from those that begin with WEED_.
func (c *Cluster) environment() []string {
	env := []string{
		"HOME=" + c.opt.Dir, "TMPDIR=" + c.tempDir(),
		"AWS_ACCESS_KEY_ID=" + AccessKey, "AWS_SECRET_ACCESS_KEY=" + SecretKey,
		"AWS_EC2_METADATA_DISABLED=true",
	}
	keep := []string{"PATH"}
	if runtime.GOOS == "windows" {
		keep = append(keep, "SystemRoot", "TEMP", "TMP")
	}
	for _, name := range keep {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	for _, v := range os.Environ() {
		if strings.HasPrefix(v, ownVariables) {
			env = append(env, v)
		}
	}
	return append(env, c.opt.Env...)
}

// writeIdentities writes the S3 identities of a `weed server`; a mini makes its
// own from the environment.
func (c *Cluster) writeIdentities() (string, error) {
	type credential struct {
		AccessKey string `json:"accessKey"`
		SecretKey string `json:"secretKey"`
	}
	type identity struct {
		Name        string       `json:"name"`
		Credentials []credential `json:"credentials"`
		Actions     []string     `json:"actions"`
	}
	b, err := json.Marshal(map[string][]identity{"identities": {{
		Name: "admin", Credentials: []credential{{AccessKey, SecretKey}},
		Actions: []string{"Admin", "Read", "Write", "List", "Tagging"},
	}}})
	name := filepath.Join(c.ConfigDir(), "s3.json")
	if err == nil {
		err = os.WriteFile(name, b, 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("configuring S3 identities: %w", err)
	}
	return name, nil
}
