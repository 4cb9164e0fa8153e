package api

import (
	"context"
	"fmt"
	"gcity/api/token"
	"maps"
	"slices"
	"strings"
	"time"
)

type keys struct {
	token   string
	read    string
	tenants map[string]Tenant
	problem string // tenants or users without access, and why; "" = all have access
}

func (k keys) same(l keys) bool {
	return k.token == l.token && k.read == l.read &&
		maps.EqualFunc(k.tenants, l.tenants, func(a, b Tenant) bool { return a.Token == b.Token })
}

type secret struct {
	token string
	err   error
	at    time.Time // when the read returned
}

// readKeys drops unusable tokens. Without tenants, an unusable main token is an error.
func (k *listenerKeeper) readKeys(ctx context.Context) (now keys, err error) {
	var problems []string
	if now.token, err = k.readToken(ctx, k.want.TokenFile, k.want.MakeToken); err != nil {
		if len(k.want.Tenants) == 0 {
			return now, err
		}
		now.token, problems = "", append(problems, fmt.Sprintf("only tenants have access: %v", err))
	}
	whose := map[string]string{now.token: "token_file"}
	if k.fleet {
		whose[now.token] = "the supervisor's token file"
	}
	if now.read, err = k.readToken(ctx, k.want.ReadFile, false); err == nil && now.read != "" &&
		whose[now.read] != "" {
		err = fmt.Errorf("the file contains the same token as %s", whose[now.read])
	}
	if err != nil {
		now.read, problems = "", append(problems,
			fmt.Sprintf("cannot use read_token_file, so its token is rejected: %v", err))
	}
	if now.read != "" {
		whose[now.read] = "read_token_file"
	}
	if len(k.want.Tenants) > 0 {
		problems = append(problems, k.readTenants(ctx, &now, whose)...)
	}
	now.problem = strings.Join(problems, "; ")
	return now, nil
}

func (k *listenerKeeper) readTenants(ctx context.Context, now *keys,
	whose map[string]string) (problems []string) {
	now.tenants = map[string]Tenant{}
	for _, name := range slices.Sorted(maps.Keys(k.want.Tenants)) {
		t := k.want.Tenants[name]
		key, err := t.Token, error(nil)
		if key == "" {
			key, err = k.readToken(ctx, t.TokenFile, false)
		}
		other := whose[key]
		switch {
		case t.TokenFile == "" && t.Token == "":
			err = fmt.Errorf("token_file is not set")
		case err == nil && other != "":
			err = fmt.Errorf("the file contains the same token as %s", other)
		}
		if err != nil {
			problems = append(problems, fmt.Sprintf("tenant %s has no access: %v", name, err))
			key = ""
		} else {
			whose[key] = "tenant " + name
		}
		t.Token = key
		now.tenants[name] = t
	}
	return problems
}

// readToken reads a token from a file. If the file does not respond, for example on a busy machine, the result of the
// previous read stays valid for tokenGrace. Its errors never contain the token.
func (k *listenerKeeper) readToken(ctx context.Context, path string, make bool) (string, error) {
	if path == "" {
		return "", nil
	}
	saw, ok := k.files.Do(ctx, path, time.Now(), tokenTime, func() secret {
		read := token.Read
		if make {
			read = token.Ensure
		}
		token, err := read(path)
		return secret{token, err, time.Now()}
	})
	if ok {
		k.read[path] = saw
		return saw.token, saw.err
	}
	if last, is := k.read[path]; is && time.Since(last.at) < tokenGrace {
		return last.token, last.err
	}
	return "", fmt.Errorf("timeout while reading the token file %s", path)
}
