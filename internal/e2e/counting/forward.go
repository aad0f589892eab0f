package counting

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protowire"
)

// frame is a message as it is on the wire.
type frame struct{ bytes []byte }

// raw hands messages over as they are.
type raw struct{}

// Name is that of the codec whose messages these are.
func (raw) Name() string { return "proto" }

// Marshal implements encoding.Codec.
func (raw) Marshal(v any) ([]byte, error) {
	f, ok := v.(*frame)
	if !ok {
		return nil, fmt.Errorf("sending a %T", v)
	}
	return f.bytes, nil
}

// Unmarshal implements encoding.Codec.
func (raw) Unmarshal(data []byte, v any) error {
	f, ok := v.(*frame)
	if !ok {
		return fmt.Errorf("receiving a %T", v)
	}
	f.bytes = append([]byte(nil), data...)
	return nil
}

// forward hands a call of any method on and its answer back.
func (f *Filer) forward(_ any, in grpc.ServerStream) error {
	method, ok := grpc.MethodFromServerStream(in)
	if !ok {
		return errors.New("a call of no method")
	}
	ctx, cancel := context.WithCancel(forwarded(in.Context()))
	defer cancel()
	out, err := f.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method)
	if err != nil {
		return err
	}
	go func() {
		if err := f.questions(in, out, path.Base(method)); err != nil {
			cancel()
		}
	}()
	return answers(in, out)
}

// questions forwards what the caller sends, and notes the call with the first of it.
func (f *Filer) questions(in grpc.ServerStream, out grpc.ClientStream, method string) error {
	for first := true; ; first = false {
		var m frame
		err := in.RecvMsg(&m)
		if errors.Is(err, io.EOF) {
			return out.CloseSend()
		}
		if err != nil {
			return err
		}
		if first {
			f.note(Call{method, about(method, m.bytes)})
		}
		if err := out.SendMsg(&m); err != nil {
			return nil // what is wrong is said where answers are received
		}
	}
}

// answers forwards what the filer sends, up to the status.
func answers(in grpc.ServerStream, out grpc.ClientStream) error {
	header, err := out.Header()
	if err == nil {
		err = in.SendHeader(header)
	}
	for err == nil {
		var m frame
		if err = out.RecvMsg(&m); err == nil {
			err = in.SendMsg(&m)
		}
	}
	in.SetTrailer(out.Trailer())
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// forwarded is a context for the filer with what came with a call.
func forwarded(ctx context.Context) context.Context {
	if md, ok := metadata.FromIncomingContext(ctx); ok {
		return metadata.NewOutgoingContext(ctx, md.Copy())
	}
	return ctx
}

// about finds out which directory or entry a request is about: the directory comes first in all
// of the filer's requests about one, and where a name is asked for, it comes second.
func about(method string, request []byte) string {
	var name bool
	switch method {
	case "LookupDirectoryEntry", "DeleteEntry":
		name = true
	case "ListEntries", "CreateEntry", "UpdateEntry", "AppendToEntry", "TraverseBfsMetadata":
	default:
		return ""
	}
	var fields [3]string
	for len(request) > 0 {
		number, kind, n := protowire.ConsumeField(request)
		if n < 0 {
			break
		}
		if kind == protowire.BytesType && number < 3 {
			_, _, tag := protowire.ConsumeTag(request)
			text, _ := protowire.ConsumeBytes(request[tag:])
			fields[number] = string(text)
		}
		request = request[n:]
	}
	if name {
		return path.Join(fields[1], fields[2])
	}
	return fields[1]
}
