package main

import (
	"time"

	"github.com/lorenzodonini/ocpp-go/ocpp"
	ocpp2 "github.com/lorenzodonini/ocpp-go/ocpp2.0.1"
	"github.com/lorenzodonini/ocpp-go/ocpp2.0.1/authorization"
	"github.com/lorenzodonini/ocpp-go/ocpp2.0.1/availability"
	"github.com/lorenzodonini/ocpp-go/ocpp2.0.1/data"
	"github.com/lorenzodonini/ocpp-go/ocpp2.0.1/diagnostics"
	"github.com/lorenzodonini/ocpp-go/ocpp2.0.1/firmware"
	"github.com/lorenzodonini/ocpp-go/ocpp2.0.1/iso15118"
	"github.com/lorenzodonini/ocpp-go/ocpp2.0.1/localauth"
	"github.com/lorenzodonini/ocpp-go/ocpp2.0.1/meter"
	"github.com/lorenzodonini/ocpp-go/ocpp2.0.1/provisioning"
	"github.com/lorenzodonini/ocpp-go/ocpp2.0.1/remotecontrol"
	"github.com/lorenzodonini/ocpp-go/ocpp2.0.1/reservation"
	"github.com/lorenzodonini/ocpp-go/ocpp2.0.1/security"
	"github.com/lorenzodonini/ocpp-go/ocpp2.0.1/smartcharging"
	"github.com/lorenzodonini/ocpp-go/ocpp2.0.1/transactions"
	"github.com/lorenzodonini/ocpp-go/ocpp2.0.1/types"
	"github.com/lorenzodonini/ocpp-go/ocppj"
	"github.com/lorenzodonini/ocpp-go/ws"
)

// central201 answers every request of a station as a friendly central system does.
type central201 struct{ *book }

func now201() *types.DateTime { return types.NewDateTime(time.Now()) }

var accepted201 = types.NewIdTokenInfo(types.AuthorizationStatusAccepted)

func (c *central201) OnAuthorize(id string, r *authorization.AuthorizeRequest) (*authorization.AuthorizeResponse, error) {
	c.add(id, "Authorize", r)
	return authorization.NewAuthorizationResponse(*accepted201), nil
}

func (c *central201) OnHeartbeat(id string, r *availability.HeartbeatRequest) (*availability.HeartbeatResponse, error) {
	c.add(id, "Heartbeat", r)
	return availability.NewHeartbeatResponse(*now201()), nil
}

func (c *central201) OnStatusNotification(id string, r *availability.StatusNotificationRequest) (*availability.StatusNotificationResponse, error) {
	c.add(id, "StatusNotification", r)
	return availability.NewStatusNotificationResponse(), nil
}

func (c *central201) OnDataTransfer(id string, r *data.DataTransferRequest) (*data.DataTransferResponse, error) {
	c.add(id, "DataTransfer", r)
	return data.NewDataTransferResponse(data.DataTransferStatusAccepted), nil
}

func (c *central201) OnLogStatusNotification(id string, r *diagnostics.LogStatusNotificationRequest) (*diagnostics.LogStatusNotificationResponse, error) {
	c.add(id, "LogStatusNotification", r)
	return diagnostics.NewLogStatusNotificationResponse(), nil
}

func (c *central201) OnNotifyCustomerInformation(id string, r *diagnostics.NotifyCustomerInformationRequest) (*diagnostics.NotifyCustomerInformationResponse, error) {
	c.add(id, "NotifyCustomerInformation", r)
	return diagnostics.NewNotifyCustomerInformationResponse(), nil
}

func (c *central201) OnNotifyEvent(id string, r *diagnostics.NotifyEventRequest) (*diagnostics.NotifyEventResponse, error) {
	c.add(id, "NotifyEvent", r)
	return diagnostics.NewNotifyEventResponse(), nil
}

func (c *central201) OnNotifyMonitoringReport(id string, r *diagnostics.NotifyMonitoringReportRequest) (*diagnostics.NotifyMonitoringReportResponse, error) {
	c.add(id, "NotifyMonitoringReport", r)
	return diagnostics.NewNotifyMonitoringReportResponse(), nil
}

func (c *central201) OnFirmwareStatusNotification(id string, r *firmware.FirmwareStatusNotificationRequest) (*firmware.FirmwareStatusNotificationResponse, error) {
	c.add(id, "FirmwareStatusNotification", r)
	return firmware.NewFirmwareStatusNotificationResponse(), nil
}

func (c *central201) OnPublishFirmwareStatusNotification(id string, r *firmware.PublishFirmwareStatusNotificationRequest) (*firmware.PublishFirmwareStatusNotificationResponse, error) {
	c.add(id, "PublishFirmwareStatusNotification", r)
	return firmware.NewPublishFirmwareStatusNotificationResponse(), nil
}

func (c *central201) OnMeterValues(id string, r *meter.MeterValuesRequest) (*meter.MeterValuesResponse, error) {
	c.add(id, "MeterValues", r)
	return meter.NewMeterValuesResponse(), nil
}

func (c *central201) OnBootNotification(id string, r *provisioning.BootNotificationRequest) (*provisioning.BootNotificationResponse, error) {
	c.add(id, "BootNotification", r)
	return provisioning.NewBootNotificationResponse(now201(), 60, provisioning.RegistrationStatusAccepted), nil
}

func (c *central201) OnNotifyReport(id string, r *provisioning.NotifyReportRequest) (*provisioning.NotifyReportResponse, error) {
	c.add(id, "NotifyReport", r)
	return provisioning.NewNotifyReportResponse(), nil
}

func (c *central201) OnReservationStatusUpdate(id string, r *reservation.ReservationStatusUpdateRequest) (*reservation.ReservationStatusUpdateResponse, error) {
	c.add(id, "ReservationStatusUpdate", r)
	return reservation.NewReservationStatusUpdateResponse(), nil
}

func (c *central201) OnSecurityEventNotification(id string, r *security.SecurityEventNotificationRequest) (*security.SecurityEventNotificationResponse, error) {
	c.add(id, "SecurityEventNotification", r)
	return security.NewSecurityEventNotificationResponse(), nil
}

func (c *central201) OnSignCertificate(id string, r *security.SignCertificateRequest) (*security.SignCertificateResponse, error) {
	c.add(id, "SignCertificate", r)
	return security.NewSignCertificateResponse(types.GenericStatusAccepted), nil
}

func (c *central201) OnClearedChargingLimit(id string, r *smartcharging.ClearedChargingLimitRequest) (*smartcharging.ClearedChargingLimitResponse, error) {
	c.add(id, "ClearedChargingLimit", r)
	return smartcharging.NewClearedChargingLimitResponse(), nil
}

func (c *central201) OnNotifyChargingLimit(id string, r *smartcharging.NotifyChargingLimitRequest) (*smartcharging.NotifyChargingLimitResponse, error) {
	c.add(id, "NotifyChargingLimit", r)
	return smartcharging.NewNotifyChargingLimitResponse(), nil
}

func (c *central201) OnNotifyEVChargingNeeds(id string, r *smartcharging.NotifyEVChargingNeedsRequest) (*smartcharging.NotifyEVChargingNeedsResponse, error) {
	c.add(id, "NotifyEVChargingNeeds", r)
	return smartcharging.NewNotifyEVChargingNeedsResponse(smartcharging.EVChargingNeedsStatusAccepted), nil
}

func (c *central201) OnNotifyEVChargingSchedule(id string, r *smartcharging.NotifyEVChargingScheduleRequest) (*smartcharging.NotifyEVChargingScheduleResponse, error) {
	c.add(id, "NotifyEVChargingSchedule", r)
	return smartcharging.NewNotifyEVChargingScheduleResponse(types.GenericStatusAccepted), nil
}

func (c *central201) OnReportChargingProfiles(id string, r *smartcharging.ReportChargingProfilesRequest) (*smartcharging.ReportChargingProfilesResponse, error) {
	c.add(id, "ReportChargingProfiles", r)
	return smartcharging.NewReportChargingProfilesResponse(), nil
}

func (c *central201) OnTransactionEvent(id string, r *transactions.TransactionEventRequest) (*transactions.TransactionEventResponse, error) {
	c.add(id, "TransactionEvent", r)
	answer := transactions.NewTransactionEventResponse()
	if r.IDToken != nil {
		answer.IDTokenInfo = accepted201
	}
	return answer, nil
}

var profiles201 = []*ocpp.Profile{
	authorization.Profile, availability.Profile, data.Profile, diagnostics.Profile, firmware.Profile, iso15118.Profile,
	localauth.Profile, meter.Profile, provisioning.Profile, remotecontrol.Profile, reservation.Profile, security.Profile,
	smartcharging.Profile, transactions.Profile,
}

func newCentral201(endpoint *ocppj.Server, listener ws.WsServer, kept *book) system {
	handler := &central201{kept}
	made := ocpp2.NewCSMS(endpoint, listener)
	made.SetAuthorizationHandler(handler)
	made.SetAvailabilityHandler(handler)
	made.SetDataHandler(handler)
	made.SetDiagnosticsHandler(handler)
	made.SetFirmwareHandler(handler)
	made.SetMeterHandler(handler)
	made.SetProvisioningHandler(handler)
	made.SetReservationHandler(handler)
	made.SetSecurityHandler(handler)
	made.SetSmartChargingHandler(handler)
	made.SetTransactionsHandler(handler)
	made.SetNewChargingStationHandler(func(station ocpp2.ChargingStationConnection) { kept.connected(station) })
	return made
}
