//! The crate `sunspec_rs`: sunspec_rs HOST PORT UNIT FOLDER. It reads its definitions from `models` in the folder in which it runs.

use field_clients::{answer, next_request, number, target};
use serde_json::{json, Value};
use sunspec_rs::sunspec_connection::{SunSpecConnection, SunSpecPointError};
use sunspec_rs::sunspec_data::SunSpecData;
use sunspec_rs::sunspec_models::{PointIdentifier, ValueType};

fn shown(value: Option<ValueType>) -> Value {
    match value {
        Some(ValueType::Integer(number)) => json!(number),
        Some(ValueType::Float(number)) => json!(number),
        Some(ValueType::Boolean(flag)) => json!(flag),
        Some(ValueType::String(text)) => json!(text),
        Some(ValueType::Array(symbols)) => json!(symbols),
        Some(ValueType::Pad) | None => Value::Null,
    }
}

/// Values in engineering units; null: the device does not implement the point.
async fn read(connection: &SunSpecConnection, request: &Value) -> Result<Value, String> {
    let id = number(request, "model")? as u16;
    let model = connection.models.get(&id).ok_or(format!("no model {id}"))?;
    let mut values = serde_json::Map::new();
    for name in request["points"].as_array().ok_or("no points")? {
        let name = name.as_str().ok_or("no name")?.to_string();
        let found = connection.clone().get_point(model.clone(), PointIdentifier::Point(name.clone())).await;
        let value = match found {
            Ok(point) => shown(point.value),
            Err(SunSpecPointError::PointNotImplemented(_)) => Value::Null,
            Err(error) => return Err(error.to_string()),
        };
        values.insert(name, value);
    }
    Ok(Value::Object(values))
}

/// Limits by 123, point by point; `raw` is the percentage in steps of the register.
async fn limit(connection: &SunSpecConnection, raw: i64) -> Result<Value, String> {
    let model = connection.models.get(&123).ok_or("no model 123")?;
    for (name, value) in [("WMaxLimPct", raw), ("WMaxLim_Ena", 1)] {
        let point = PointIdentifier::Point(name.to_string());
        connection
            .clone()
            .set_point(model.clone(), point, ValueType::Integer(value))
            .await
            .map_err(|error| format!("{name}: {error}"))?;
    }
    Ok(Value::Null)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let (address, unit) = target();
    let folder = std::env::args().nth(4).expect("a folder");
    std::env::set_current_dir(folder).expect("the folder of the crate");
    let mut connection = SunSpecConnection::new(address, Some(unit), false, None).await.expect("a connection");
    connection.models = connection.populate_models(&SunSpecData::default()).await.expect("a chain");
    while let Some(request) = next_request() {
        answer(match request["op"].as_str() {
            Some("scan") => {
                let mut known: Vec<u16> = connection.models.keys().copied().collect();
                known.sort_unstable();
                Ok(json!({ "known": known }))
            }
            Some("read") => read(&connection, &request).await,
            Some("limit") => match number(&request, "raw") {
                Ok(raw) => limit(&connection, raw).await,
                Err(error) => Err(error),
            },
            other => Err(format!("no operation {other:?}")),
        });
    }
}
