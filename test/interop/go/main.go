// A central system of OCPP 1.6 on ocpp-go, asked by lines of JSON: {"op": ..., arguments} -> {"value": ...} or {"error": ...}.
//
// Arguments of the program: PORT [OPTIONS as JSON]. Options: cert, key (PEM files of the server: TLS), ca (clients need a
// certificate of this CA), user and password (hex) of basic authentication. Built with a copy of the package in which the
// server listens on 127.0.0.1 alone (support/ocpp-go.ts).
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
	ocpp16 "github.com/lorenzodonini/ocpp-go/ocpp1.6"
	"github.com/lorenzodonini/ocpp-go/ocpp1.6/certificates"
	"github.com/lorenzodonini/ocpp-go/ocpp1.6/core"
	"github.com/lorenzodonini/ocpp-go/ocpp1.6/extendedtriggermessage"
	"github.com/lorenzodonini/ocpp-go/ocpp1.6/firmware"
	"github.com/lorenzodonini/ocpp-go/ocpp1.6/localauth"
	"github.com/lorenzodonini/ocpp-go/ocpp1.6/logging"
	"github.com/lorenzodonini/ocpp-go/ocpp1.6/remotetrigger"
	"github.com/lorenzodonini/ocpp-go/ocpp1.6/reservation"
	"github.com/lorenzodonini/ocpp-go/ocpp1.6/securefirmware"
	"github.com/lorenzodonini/ocpp-go/ocpp1.6/security"
	"github.com/lorenzodonini/ocpp-go/ocpp1.6/smartcharging"
	"github.com/lorenzodonini/ocpp-go/ocpp1.6/types"
	"github.com/lorenzodonini/ocpp-go/ws"
)

type message struct {
	Station string `json:"station"`
	Action  string `json:"action"`
	Payload any    `json:"payload"`
	Number  int    `json:"number"`
}

// book keeps what the stations have sent.
type book struct {
	mutex    sync.Mutex
	changed  *sync.Cond
	messages []message
	nextID   int
}

func newBook() *book {
	b := &book{nextID: 1}
	b.changed = sync.NewCond(&b.mutex)
	return b
}

func (b *book) add(station string, action string, payload any) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.messages = append(b.messages, message{station, action, payload, len(b.messages) + 1})
	b.changed.Broadcast()
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

// central answers every request of a station as a friendly central system does.
type central struct{ *book }

func now() *types.DateTime { return types.NewDateTime(time.Now()) }

var accepted = &types.IdTagInfo{Status: types.AuthorizationStatusAccepted}

func (c *central) OnAuthorize(id string, r *core.AuthorizeRequest) (*core.AuthorizeConfirmation, error) {
	c.add(id, "Authorize", r)
	return core.NewAuthorizationConfirmation(accepted), nil
}

func (c *central) OnBootNotification(id string, r *core.BootNotificationRequest) (*core.BootNotificationConfirmation, error) {
	c.add(id, "BootNotification", r)
	return core.NewBootNotificationConfirmation(now(), 60, core.RegistrationStatusAccepted), nil
}

func (c *central) OnDataTransfer(id string, r *core.DataTransferRequest) (*core.DataTransferConfirmation, error) {
	c.add(id, "DataTransfer", r)
	return core.NewDataTransferConfirmation(core.DataTransferStatusAccepted), nil
}

func (c *central) OnHeartbeat(id string, r *core.HeartbeatRequest) (*core.HeartbeatConfirmation, error) {
	c.add(id, "Heartbeat", r)
	return core.NewHeartbeatConfirmation(now()), nil
}

func (c *central) OnMeterValues(id string, r *core.MeterValuesRequest) (*core.MeterValuesConfirmation, error) {
	c.add(id, "MeterValues", r)
	return core.NewMeterValuesConfirmation(), nil
}

func (c *central) OnStatusNotification(id string, r *core.StatusNotificationRequest) (*core.StatusNotificationConfirmation, error) {
	c.add(id, "StatusNotification", r)
	return core.NewStatusNotificationConfirmation(), nil
}

func (c *central) OnStartTransaction(id string, r *core.StartTransactionRequest) (*core.StartTransactionConfirmation, error) {
	c.mutex.Lock()
	transaction := c.nextID
	c.nextID++
	c.mutex.Unlock()
	c.add(id, "StartTransaction", r)
	return core.NewStartTransactionConfirmation(accepted, transaction), nil
}

func (c *central) OnStopTransaction(id string, r *core.StopTransactionRequest) (*core.StopTransactionConfirmation, error) {
	c.add(id, "StopTransaction", r)
	return core.NewStopTransactionConfirmation(), nil
}

func (c *central) OnDiagnosticsStatusNotification(id string, r *firmware.DiagnosticsStatusNotificationRequest) (*firmware.DiagnosticsStatusNotificationConfirmation, error) {
	c.add(id, "DiagnosticsStatusNotification", r)
	return firmware.NewDiagnosticsStatusNotificationConfirmation(), nil
}

func (c *central) OnFirmwareStatusNotification(id string, r *firmware.FirmwareStatusNotificationRequest) (*firmware.FirmwareStatusNotificationConfirmation, error) {
	c.add(id, "FirmwareStatusNotification", r)
	return firmware.NewFirmwareStatusNotificationConfirmation(), nil
}

func (c *central) OnSecurityEventNotification(id string, r *security.SecurityEventNotificationRequest) (*security.SecurityEventNotificationResponse, error) {
	c.add(id, "SecurityEventNotification", r)
	return security.NewSecurityEventNotificationResponse(), nil
}

func (c *central) OnSignCertificate(id string, r *security.SignCertificateRequest) (*security.SignCertificateResponse, error) {
	c.add(id, "SignCertificate", r)
	return security.NewSignCertificateResponse(types.GenericStatusAccepted), nil
}

func (c *central) OnLogStatusNotification(id string, r *logging.LogStatusNotificationRequest) (*logging.LogStatusNotificationResponse, error) {
	c.add(id, "LogStatusNotification", r)
	return logging.NewLogStatusNotificationResponse(), nil
}

func (c *central) OnSignedFirmwareStatusNotification(id string, r *securefirmware.SignedFirmwareStatusNotificationRequest) (*securefirmware.SignedFirmwareStatusNotificationResponse, error) {
	c.add(id, "SignedFirmwareStatusNotification", r)
	return securefirmware.NewFirmwareStatusNotificationResponse(), nil
}

var profiles = []*ocpp.Profile{
	core.Profile, localauth.Profile, firmware.Profile, reservation.Profile, remotetrigger.Profile, smartcharging.Profile,
	logging.Profile, security.Profile, extendedtriggermessage.Profile, certificates.Profile, securefirmware.Profile,
}

// requestOf makes a request of the package from an action and its payload.
func requestOf(action string, payload json.RawMessage) (ocpp.Request, error) {
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

func call(system ocpp16.CentralSystem, q question) (any, error) {
	request, err := requestOf(q.Action, q.Payload)
	if err != nil {
		return nil, err
	}
	type outcome struct {
		response ocpp.Response
		err      error
	}
	answered := make(chan outcome, 1)
	if err := system.SendRequestAsync(q.Station, request, func(response ocpp.Response, err error) {
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
	Cert, Key, CA, User, Password string
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

// shown is the certificate of a client, where it needed one.
func shown(station ocpp16.ChargePointConnection) map[string]any {
	state := station.TLSConnectionState()
	if state == nil {
		return map[string]any{"tls": nil, "client": nil}
	}
	facts := map[string]any{"tls": strings.Replace(tls.VersionName(state.Version), "TLS ", "TLSv", 1), "client": nil}
	if len(state.PeerCertificates) > 0 {
		facts["client"] = state.PeerCertificates[0].Subject.CommonName
	}
	return facts
}

func main() {
	port, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	handler := &central{newBook()}
	system := ocpp16.NewCentralSystem(nil, server(settingsOf(os.Args[2:]), func(user string) {
		handler.add(user, "(refused)", map[string]any{"user": user})
	}))
	system.SetCoreHandler(handler)
	system.SetFirmwareManagementHandler(handler)
	system.SetSecurityHandler(handler)
	system.SetLogHandler(handler)
	system.SetSecureFirmwareHandler(handler)
	system.SetNewChargePointHandler(func(station ocpp16.ChargePointConnection) { handler.add(station.ID(), "(connected)", shown(station)) })
	go system.Start(port, "/{ws}")
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
			value, err = call(system, q)
		case q.Op == "wait":
			value, err = handler.wait(q.Station, q.Action, q.After, q.Where, q.limit())
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
