module derbench/field

go 1.23

require (
	github.com/andig/gosunspec v0.0.0-20260705113727-6d585e133512
	github.com/grid-x/modbus v0.0.0-20210714071042-7af2b65ec03b
)

require github.com/grid-x/serial v0.0.0-20211107191517-583c7356b3aa // indirect
