module derbench/central

go 1.23

require github.com/lorenzodonini/ocpp-go v0.19.0

require (
	github.com/go-playground/locales v0.12.1 // indirect
	github.com/go-playground/universal-translator v0.16.0 // indirect
	github.com/gorilla/mux v1.8.1 // indirect
	github.com/gorilla/websocket v1.5.3 // indirect
	github.com/leodido/go-urn v1.1.0 // indirect
	github.com/relvacode/iso8601 v1.6.0 // indirect
	gopkg.in/go-playground/validator.v9 v9.30.0 // indirect
)
