package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// Region is the one that the gateway's requests are signed for.
const Region = "us-east-1"

// S3 is a client of the S3 gateway with the cluster's own credentials.
type S3 struct {
	// Endpoint is the gateway's URL, for writers of other languages too.
	Endpoint string
}

// S3Answer is what the gateway answered.
type S3Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Put writes an object, path being bucket/key.
func (s *S3) Put(ctx context.Context, path string, content []byte) error {
	_, err := s.Do(ctx, http.MethodPut, path, nil, content)
	return err
}

// Get reads an object.
func (s *S3) Get(ctx context.Context, path string) (*S3Answer, error) {
	return s.Do(ctx, http.MethodGet, path, nil, nil)
}

// Do sends a signed request; path is bucket/key?query. An answer of failure
// comes together with a StatusError.
func (s *S3) Do(ctx context.Context, method, path string, header http.Header, content []byte) (*S3Answer, error) {
	path, query, _ := strings.Cut(path, "?")
	u, err := url.Parse(s.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("S3 endpoint: %w", err)
	}
	u.Path, u.RawQuery = "/"+path, query
	req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("S3 %s %s: %w", method, path, err)
	}
	if header != nil {
		req.Header = header.Clone()
	}
	sum := sha256.Sum256(content)
	hash := hex.EncodeToString(sum[:])
	req.Header.Set("X-Amz-Content-Sha256", hash)
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	err = signer.SignHTTP(ctx, aws.Credentials{AccessKeyID: AccessKey, SecretAccessKey: SecretKey}, req, hash, "s3", Region, time.Now())
	if err != nil {
		return nil, fmt.Errorf("signing S3 %s %s: %w", method, path, err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	a := &S3Answer{Status: resp.StatusCode, Header: resp.Header}
	if a.Body, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer)); err != nil {
		return nil, fmt.Errorf("S3 %s %s: %w", method, path, err)
	}
	if a.Status/100 != 2 {
		return a, &StatusError{Method: method, URL: u.String(), Status: a.Status, Body: string(a.Body)}
	}
	return a, nil
}
