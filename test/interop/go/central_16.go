package main

import (
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
	"github.com/lorenzodonini/ocpp-go/ocppj"
	"github.com/lorenzodonini/ocpp-go/ws"
)

// central16 answers every request of a station as a friendly central system does.
type central16 struct {
	*book
	lastTransaction int
}

func now16() *types.DateTime { return types.NewDateTime(time.Now()) }

var accepted16 = &types.IdTagInfo{Status: types.AuthorizationStatusAccepted}

func (c *central16) OnAuthorize(id string, r *core.AuthorizeRequest) (*core.AuthorizeConfirmation, error) {
	c.add(id, "Authorize", r)
	return core.NewAuthorizationConfirmation(accepted16), nil
}

func (c *central16) OnBootNotification(id string, r *core.BootNotificationRequest) (*core.BootNotificationConfirmation, error) {
	c.add(id, "BootNotification", r)
	return core.NewBootNotificationConfirmation(now16(), 60, core.RegistrationStatusAccepted), nil
}

func (c *central16) OnDataTransfer(id string, r *core.DataTransferRequest) (*core.DataTransferConfirmation, error) {
	c.add(id, "DataTransfer", r)
	return core.NewDataTransferConfirmation(core.DataTransferStatusAccepted), nil
}

func (c *central16) OnHeartbeat(id string, r *core.HeartbeatRequest) (*core.HeartbeatConfirmation, error) {
	c.add(id, "Heartbeat", r)
	return core.NewHeartbeatConfirmation(now16()), nil
}

func (c *central16) OnMeterValues(id string, r *core.MeterValuesRequest) (*core.MeterValuesConfirmation, error) {
	c.add(id, "MeterValues", r)
	return core.NewMeterValuesConfirmation(), nil
}

func (c *central16) OnStatusNotification(id string, r *core.StatusNotificationRequest) (*core.StatusNotificationConfirmation, error) {
	c.add(id, "StatusNotification", r)
	return core.NewStatusNotificationConfirmation(), nil
}

func (c *central16) OnStartTransaction(id string, r *core.StartTransactionRequest) (*core.StartTransactionConfirmation, error) {
	c.mutex.Lock()
	c.lastTransaction++
	transaction := c.lastTransaction
	c.mutex.Unlock()
	c.add(id, "StartTransaction", r)
	return core.NewStartTransactionConfirmation(accepted16, transaction), nil
}

func (c *central16) OnStopTransaction(id string, r *core.StopTransactionRequest) (*core.StopTransactionConfirmation, error) {
	c.add(id, "StopTransaction", r)
	return core.NewStopTransactionConfirmation(), nil
}

func (c *central16) OnDiagnosticsStatusNotification(id string, r *firmware.DiagnosticsStatusNotificationRequest) (*firmware.DiagnosticsStatusNotificationConfirmation, error) {
	c.add(id, "DiagnosticsStatusNotification", r)
	return firmware.NewDiagnosticsStatusNotificationConfirmation(), nil
}

func (c *central16) OnFirmwareStatusNotification(id string, r *firmware.FirmwareStatusNotificationRequest) (*firmware.FirmwareStatusNotificationConfirmation, error) {
	c.add(id, "FirmwareStatusNotification", r)
	return firmware.NewFirmwareStatusNotificationConfirmation(), nil
}

func (c *central16) OnSecurityEventNotification(id string, r *security.SecurityEventNotificationRequest) (*security.SecurityEventNotificationResponse, error) {
	c.add(id, "SecurityEventNotification", r)
	return security.NewSecurityEventNotificationResponse(), nil
}

func (c *central16) OnSignCertificate(id string, r *security.SignCertificateRequest) (*security.SignCertificateResponse, error) {
	c.add(id, "SignCertificate", r)
	return security.NewSignCertificateResponse(types.GenericStatusAccepted), nil
}

func (c *central16) OnLogStatusNotification(id string, r *logging.LogStatusNotificationRequest) (*logging.LogStatusNotificationResponse, error) {
	c.add(id, "LogStatusNotification", r)
	return logging.NewLogStatusNotificationResponse(), nil
}

func (c *central16) OnSignedFirmwareStatusNotification(id string, r *securefirmware.SignedFirmwareStatusNotificationRequest) (*securefirmware.SignedFirmwareStatusNotificationResponse, error) {
	c.add(id, "SignedFirmwareStatusNotification", r)
	return securefirmware.NewFirmwareStatusNotificationResponse(), nil
}

var profiles16 = []*ocpp.Profile{
	core.Profile, localauth.Profile, firmware.Profile, reservation.Profile, remotetrigger.Profile, smartcharging.Profile,
	logging.Profile, security.Profile, extendedtriggermessage.Profile, certificates.Profile, securefirmware.Profile,
}

func newCentral16(endpoint *ocppj.Server, listener ws.WsServer, kept *book) system {
	handler := &central16{book: kept}
	made := ocpp16.NewCentralSystem(endpoint, listener)
	made.SetCoreHandler(handler)
	made.SetFirmwareManagementHandler(handler)
	made.SetSecurityHandler(handler)
	made.SetLogHandler(handler)
	made.SetSecureFirmwareHandler(handler)
	made.SetNewChargePointHandler(func(station ocpp16.ChargePointConnection) { kept.connected(station) })
	return made
}
