// gosunspec, the SunSpec library of evcc and mbmd, asked by lines of JSON: {"op": ..., arguments} -> {"value": ...} or {"error": ...}.
//
// Arguments of the program: HOST:PORT UNIT. A value is read and written as evcc does it: the block whole, then the point.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/andig/gosunspec"
	bus "github.com/andig/gosunspec/modbus"
	_ "github.com/andig/gosunspec/models"
	"github.com/andig/gosunspec/typelabel"
	"github.com/grid-x/modbus"
)

type request struct {
	Op    string
	Model int
	Block int
	Point string
	Value int64
}

func main() {
	unit, err := strconv.Atoi(os.Args[2])
	if err != nil {
		panic(err)
	}
	handler := modbus.NewTCPClientHandler(os.Args[1])
	handler.SetSlave(byte(unit))
	array, err := bus.Open(modbus.NewClient(handler))
	if err != nil {
		panic(err)
	}
	devices := array.Collect(sunspec.AllDevices)
	if len(devices) == 0 {
		panic("no device")
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var asked request
		answer := map[string]any{}
		err := json.Unmarshal(lines.Bytes(), &asked)
		if err == nil {
			answer["value"], err = answerTo(asked, devices[0])
		}
		if err != nil {
			answer = map[string]any{"error": map[string]any{"message": err.Error(), "exception": nil}}
		}
		text, err := json.Marshal(answer)
		if err != nil {
			panic(err)
		}
		fmt.Println(string(text))
	}
}

func answerTo(asked request, device sunspec.Device) (any, error) {
	switch asked.Op {
	case "scan":
		ids := []int{}
		device.Do(func(model sunspec.Model) { ids = append(ids, int(model.Id())) })
		return ids, nil
	case "read_model":
		return nil, readModel(asked, device)
	case "read":
		point, _, err := pointOf(asked, device)
		if err != nil {
			return nil, err
		}
		if point.NotImplemented() {
			return nil, nil
		}
		return point.ScaledValue(), nil
	case "write":
		return nil, write(asked, device)
	}
	return nil, errors.New("no operation " + asked.Op)
}

// modelOf is the first model with this number.
func modelOf(asked request, device sunspec.Device) (sunspec.Model, error) {
	models := device.Collect(sunspec.SameModelId(sunspec.ModelId(asked.Model)))
	if len(models) == 0 {
		return nil, fmt.Errorf("no model %d", asked.Model)
	}
	return models[0], nil
}

func readModel(asked request, device sunspec.Device) error {
	model, err := modelOf(asked, device)
	if err != nil {
		return err
	}
	model.Do(func(block sunspec.Block) {
		err = errors.Join(err, block.Read())
	})
	return err
}

// pointOf reads the fixed block, which has the scale factors, and the block of the point.
func pointOf(asked request, device sunspec.Device) (sunspec.Point, sunspec.Block, error) {
	model, err := modelOf(asked, device)
	if err != nil {
		return nil, nil, err
	}
	for _, number := range []int{0, asked.Block} {
		block, err := model.Block(number)
		if err != nil {
			return nil, nil, err
		}
		if err := block.Read(); err != nil {
			return nil, nil, err
		}
		if number == asked.Block {
			point, err := block.Point(asked.Point)
			return point, block, err
		}
	}
	return nil, nil, errors.New("no block")
}

func write(asked request, device sunspec.Device) error {
	point, block, err := pointOf(asked, device)
	if err != nil {
		return err
	}
	switch point.Type() {
	case typelabel.Enum16:
		point.SetEnum16(sunspec.Enum16(asked.Value))
	case typelabel.Bitfield16:
		point.SetBitfield16(sunspec.Bitfield16(asked.Value))
	case typelabel.Int16:
		point.SetValue(int16(asked.Value))
	case typelabel.Uint16:
		point.SetValue(uint16(asked.Value))
	default:
		return errors.New("type " + point.Type())
	}
	return block.Write(asked.Point)
}
