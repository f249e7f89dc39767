// A central system of OCPP 1.6 or 2.0.1 on ocpp-go, asked by lines of JSON: {"op": ..., arguments} -> {"value": ...} or {"error": ...}.
//
// Arguments of the program: PORT [OPTIONS as JSON]. Options: version (2.0.1; else 1.6), cert, key (PEM files of the server:
// TLS), ca (clients need a certificate of this CA), user and password (hex) of basic authentication. Built with a copy of
// the package in which the server listens on 127.0.0.1 alone (support/ocpp-go.ts).
package main

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lorenzodonini/ocpp-go/ocpp"
	"github.com/lorenzodonini/ocpp-go/ocppj"
	"github.com/lorenzodonini/ocpp-go/ws"
)

type message struct {
	Station string `json:"station"`
	Action  string `json:"action"`
	Payload any    `json:"payload"`
	Number  int    `json:"number"`
}

// book keeps what the stations have sent, and what the package refused of it.
type book struct {
	mutex    sync.Mutex
	changed  *sync.Cond
	messages []message
	refused  []string
}

func newBook() *book {
	b := &book{refused: []string{}}
	b.changed = sync.NewCond(&b.mutex)
	return b
}

func (b *book) add(station string, action string, payload any) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.messages = append(b.messages, message{station, action, payload, len(b.messages) + 1})
	b.changed.Broadcast()
}

func (b *book) refuse(_ ws.Channel, why *ocpp.Error, frame string, _ []any) *ocpp.Error {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.refused = append(b.refused, fmt.Sprintf("%v in %s", why, frame))
	return nil
}

func (b *book) refusals() []string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.refused
}

func (b *book) wait(station string, action string, after int, where map[string]any, limit time.Duration) (*message, error) {
	end := time.Now().Add(limit)
	timer := time.AfterFunc(limit, b.changed.Broadcast)
	defer timer.Stop()
	b.mutex.Lock()
	defer b.mutex.Unlock()
	for {
		for _, one := range b.messages[after:] {
			if one.Station == station && one.Action == action && matches(one.Payload, where) {
				return &one, nil
			}
		}
		if !time.Now().Before(end) {
			return nil, fmt.Errorf("no %s of %s within %v", action, station, limit)
		}
		b.changed.Wait()
	}
}

func matches(payload any, where map[string]any) bool {
	text, _ := json.Marshal(payload)
	var members map[string]any
	_ = json.Unmarshal(text, &members)
	for name, value := range where {
		if !reflect.DeepEqual(members[name], value) {
			return false
		}
	}
	return true
}

// system is the part of both packages of ocpp-go that the lines need.
type system interface {
	SendRequestAsync(station string, request ocpp.Request, callback func(ocpp.Response, error)) error
	Start(port int, path string)
}

// requestOf makes a request of the package from an action and its payload.
func requestOf(profiles []*ocpp.Profile, action string, payload json.RawMessage) (ocpp.Request, error) {
	for _, profile := range profiles {
		if !profile.SupportsFeature(action) {
			continue
		}
		request := reflect.New(profile.GetFeature(action).GetRequestType()).Interface()
		if err := json.Unmarshal(payload, request); err != nil {
			return nil, err
		}
		return request.(ocpp.Request), nil
	}
	return nil, fmt.Errorf("ocpp-go has no %s", action)
}

type question struct {
	Op      string          `json:"op"`
	Station string          `json:"station"`
	Action  string          `json:"action"`
	Payload json.RawMessage `json:"payload"`
	After   int             `json:"after"`
	Where   map[string]any  `json:"where"`
	// s
	Timeout float64 `json:"timeout"`
}

// limit is how long an answer may take.
func (q question) limit() time.Duration {
	if q.Timeout > 0 {
		return time.Duration(q.Timeout * float64(time.Second))
	}
	return 30 * time.Second
}

func call(central system, profiles []*ocpp.Profile, q question) (any, error) {
	request, err := requestOf(profiles, q.Action, q.Payload)
	if err != nil {
		return nil, err
	}
	type outcome struct {
		response ocpp.Response
		err      error
	}
	answered := make(chan outcome, 1)
	if err := central.SendRequestAsync(q.Station, request, func(response ocpp.Response, err error) {
		answered <- outcome{response, err}
	}); err != nil {
		return nil, err
	}
	select {
	case got := <-answered:
		return got.response, got.err
	case <-time.After(q.limit()):
		return nil, errors.New("no answer within " + q.limit().String())
	}
}

type settings struct {
	Version, Cert, Key, CA, User, Password string
}

func settingsOf(arguments []string) (found settings) {
	if len(arguments) > 0 {
		if err := json.Unmarshal([]byte(arguments[0]), &found); err != nil {
			panic(err)
		}
	}
	return found
}

func plainOrTLS(with settings) *ws.Server {
	if with.Cert == "" {
		return ws.NewServer()
	}
	config := &tls.Config{}
	if with.CA != "" {
		pem, err := os.ReadFile(with.CA)
		if err != nil {
			panic(err)
		}
		config.ClientCAs = x509.NewCertPool()
		config.ClientCAs.AppendCertsFromPEM(pem)
		config.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return ws.NewTLSServer(with.Cert, with.Key, config)
}

func server(with settings, strange func(user string)) *ws.Server {
	made := plainOrTLS(with)
	if with.Password != "" {
		made.SetBasicAuthHandler(func(user string, password string) bool {
			if user == with.User && hex.EncodeToString([]byte(password)) == with.Password {
				return true
			}
			strange(user)
			return false
		})
	}
	return made
}

// connected keeps the certificate of a client, where it needed one.
func (b *book) connected(station ws.Channel) {
	facts := map[string]any{"tls": nil, "client": nil}
	if state := station.TLSConnectionState(); state != nil {
		facts["tls"] = strings.Replace(tls.VersionName(state.Version), "TLS ", "TLSv", 1)
		if len(state.PeerCertificates) > 0 {
			facts["client"] = state.PeerCertificates[0].Subject.CommonName
		}
	}
	b.add(station.ID(), "(connected)", facts)
}

// tap keeps the answers of the stations as they came: the types of the package drop what they do not know.
type tap struct {
	ws.WsServer
	kept *book
}

func (t tap) SetMessageHandler(handler func(ws.Channel, []byte) error) {
	t.WsServer.SetMessageHandler(func(station ws.Channel, frame []byte) error {
		var parts []any
		if json.Unmarshal(frame, &parts) == nil && len(parts) == 3 && parts[0] == float64(ocppj.CALL_RESULT) {
			t.kept.add(station.ID(), "(answer)", parts[2])
		}
		return handler(station, frame)
	})
}

func main() {
	port, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	with, kept := settingsOf(os.Args[2:]), newBook()
	listener := tap{server(with, func(user string) { kept.add(user, "(refused)", map[string]any{"user": user}) }), kept}
	profiles, open := profiles16, newCentral16
	if with.Version == "2.0.1" {
		profiles, open = profiles201, newCentral201
	}
	endpoint := ocppj.NewServer(listener, nil, nil, profiles...)
	endpoint.SetInvalidMessageHook(kept.refuse)
	central := open(endpoint, listener, kept)
	go central.Start(port, "/{ws}")
	answers := json.NewEncoder(os.Stdout)
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var q question
		var value any
		err := json.Unmarshal(lines.Bytes(), &q)
		switch {
		case err != nil:
		case q.Op == "call":
			value, err = call(central, profiles, q)
		case q.Op == "wait":
			value, err = kept.wait(q.Station, q.Action, q.After, q.Where, q.limit())
		case q.Op == "refused":
			value = kept.refusals()
		case q.Op == "ready":
			value = true
		default:
			err = fmt.Errorf("no operation %s", q.Op)
		}
		if err != nil {
			_ = answers.Encode(map[string]any{"error": map[string]any{"message": err.Error(), "exception": nil}})
		} else {
			_ = answers.Encode(map[string]any{"value": value})
		}
	}
}
