//! The crate `sunspec`: sunspec HOST PORT UNIT.

use std::sync::Arc;

use field_clients::{answer, next_request, number, target};
use serde_json::{json, Value};
use sunspec::client::{AsyncClient, AsyncDevice, Config};
use sunspec::models::model123::{Controls, WMaxLimEna};
use tokio::sync::Mutex;
use tokio_modbus::client::{tcp, Context};

type Device = AsyncDevice<Arc<Mutex<Context>>>;

/// Reads a model whole and shows it as JSON.
macro_rules! read_one_of {
    ($device:expr, $id:expr, $($number:literal $module:ident $model:ident),+ $(,)?) => {
        match $id {
            $($number => $device
                .read_model::<sunspec::models::$module::$model>()
                .await
                .map(|model| serde_json::to_value(model).expect("JSON"))
                .map_err(|error| error.to_string()),)+
            other => Err(format!("model {other} is not asked for")),
        }
    };
}

async fn read(device: &Device, id: i64) -> Result<Value, String> {
    read_one_of!(
        device, id,
        1 model1 Model1, 101 model101 Model101, 102 model102 Model102, 103 model103 Model103,
        111 model111 Model111, 112 model112 Model112, 113 model113 Model113,
        120 model120 Model120, 121 model121 Model121, 122 model122 Model122, 123 model123 Model123,
        124 model124 Model124, 160 model160 Model160,
        201 model201 Model201, 202 model202 Model202, 203 model203 Model203, 204 model204 Model204,
        211 model211 Model211, 212 model212 Model212, 213 model213 Model213, 214 model214 Model214,
        701 model701 Model701, 702 model702 Model702, 703 model703 Model703, 704 model704 Model704,
        705 model705 Model705, 706 model706 Model706, 707 model707 Model707, 708 model708 Model708,
        709 model709 Model709, 710 model710 Model710, 711 model711 Model711, 712 model712 Model712,
        713 model713 Model713, 714 model714 Model714, 715 model715 Model715, 802 model802 Model802,
    )
}

/// Limits by 123, point by point; `raw` is the percentage in steps of the register.
async fn limit(device: &Device, raw: i64) -> Result<Value, String> {
    let raw = u16::try_from(raw).map_err(|error| error.to_string())?;
    device.write_point(Controls::W_MAX_LIM_PCT, raw).await.map_err(|error| error.to_string())?;
    device.write_point(Controls::W_MAX_LIM_ENA, WMaxLimEna::Enabled).await.map_err(|error| error.to_string())?;
    Ok(Value::Null)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let (address, unit) = target();
    let context = tcp::connect(address.parse().expect("an address")).await.expect("a connection");
    let client = AsyncClient::new(context, Config::default());
    let device = client.device(unit).await.expect("a SunSpec device");
    while let Some(request) = next_request() {
        answer(match request["op"].as_str() {
            Some("scan") => {
                let unknown: Vec<u16> = device.unknown_models.iter().map(|model| model.id).collect();
                Ok(json!({ "known": device.models.supported_model_ids(), "unknown": unknown }))
            }
            Some("read") => match number(&request, "model") {
                Ok(id) => read(&device, id).await,
                Err(error) => Err(error),
            },
            Some("limit") => match number(&request, "raw") {
                Ok(raw) => limit(&device, raw).await,
                Err(error) => Err(error),
            },
            other => Err(format!("no operation {other:?}")),
        });
    }
}
