package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// maxAnswer bounds what is read of an answer.
const maxAnswer = 64 << 20

// StatusError is an answer with a status of failure.
type StatusError struct {
	Method, URL string
	Status      int
	Body        string
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("%s %s: status %d: %s", e.Method, e.URL, e.Status, e.Body)
}

// call sends v, if any, as JSON and decodes the answer into out, if any.
func call(ctx context.Context, method, url string, header http.Header, v, out any) error {
	var body io.Reader
	if v != nil {
		b, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("%s %s: %w", method, url, err)
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, url, err)
	}
	if header != nil {
		req.Header = header
	}
	if v != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	b, err := send(req)
	if err != nil || out == nil {
		return err
	}
	if err := json.Unmarshal(b, out); err != nil {
		return fmt.Errorf("%s %s: %w: %.200s", method, url, err, b)
	}
	return nil
}

// send returns the body of an answer of success.
func send(req *http.Request) ([]byte, error) {
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", req.Method, req.URL, err)
	}
	if resp.StatusCode/100 != 2 {
		return b, &StatusError{Method: req.Method, URL: req.URL.String(), Status: resp.StatusCode, Body: string(b)}
	}
	return b, nil
}

// Get returns the status and the body that a URL answers with.
func Get(ctx context.Context, url string) (status int, body string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	b, err := send(req)
	if e, ok := err.(*StatusError); ok {
		return e.Status, e.Body, nil
	}
	if err != nil {
		return 0, "", err
	}
	return http.StatusOK, string(b), nil
}

func expectOK(ctx context.Context, url string) error {
	status, body, err := Get(ctx, url)
	if err == nil && status != http.StatusOK {
		err = &StatusError{Method: http.MethodGet, URL: url, Status: status, Body: body}
	}
	return err
}
