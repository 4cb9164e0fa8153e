package api

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// keys are the tokens that are asked for.
type keys struct {
	token   string
	tenants map[string]Tenant
	problem string // who cannot be let in, and why; "" = nobody
}

func (k keys) same(l keys) bool {
	return k.token == l.token && maps.EqualFunc(k.tenants, l.tenants, func(a, b Tenant) bool { return a.Token == b.Token })
}

// secret is what a look at a token's file saw.
type secret struct {
	token string
	err   error
}

// readKeys reads all tokens. Who has one that cannot be used is not let in, and the others are; it is an error where there are none.
func (k *keeper) readKeys(ctx context.Context) (now keys, err error) {
	if now.token, err = k.readToken(ctx, k.want.TokenFile); len(k.want.Tenants) == 0 {
		return now, err
	}
	var problems []string
	if err != nil {
		now.token, problems = "", append(problems, fmt.Sprintf("only tenants are let in: %v", err))
	}
	now.tenants = map[string]Tenant{}
	whose := map[string]string{now.token: "the supervisor"}
	for _, name := range slices.Sorted(maps.Keys(k.want.Tenants)) {
		t := k.want.Tenants[name]
		key, err := k.readToken(ctx, t.TokenFile)
		other := whose[key]
		switch {
		case t.TokenFile == "":
			err = fmt.Errorf("it has no token_file")
		case err == nil && other != "":
			err = fmt.Errorf("its token is that of %s", other)
		}
		if err != nil {
			problems = append(problems, fmt.Sprintf("the tenant %s is not let in: %v", name, err))
			key = ""
		} else {
			whose[key] = "the tenant " + name
		}
		now.tenants[name] = Tenant{Cities: t.Cities, Token: key, MaxAgents: t.MaxAgents, MaxCities: t.MaxCities}
	}
	now.problem = strings.Join(problems, "; ")
	return now, nil
}

// readToken gives a token to be asked for, "" where there is no file. Its errors do not contain it.
func (k *keeper) readToken(ctx context.Context, path string) (string, error) {
	if path == "" {
		return "", nil
	}
	saw, ok := k.files.At(ctx, path, time.Now(), tokenTime, func() secret {
		token, err := ReadToken(path)
		return secret{token, err}
	})
	if !ok {
		return "", fmt.Errorf("the file of its token, %s, does not answer", path)
	}
	return saw.token, saw.err
}
