//! Answers requests, one JSON object per line: {"op": ..., arguments} -> {"value": ...} or {"error": ...}.

use std::io::{stdin, stdout, BufRead, Write};

use serde_json::{json, Value};

/// Address and unit id of the command line.
pub fn target() -> (String, u8) {
    let args: Vec<String> = std::env::args().collect();
    (format!("{}:{}", args[1], args[2]), args[3].parse().expect("a unit id"))
}

/// The next request; none at the end of the input.
pub fn next_request() -> Option<Value> {
    let mut line = String::new();
    match stdin().lock().read_line(&mut line) {
        Ok(size) if size > 0 => Some(serde_json::from_str(&line).expect("JSON")),
        _ => None,
    }
}

pub fn answer(result: Result<Value, String>) {
    let line = match result {
        Ok(value) => json!({ "value": value }),
        Err(message) => json!({ "error": { "message": message, "exception": null } }),
    };
    println!("{line}");
    stdout().flush().expect("a reader");
}

/// @throws a message where the member is missing
pub fn number(request: &Value, name: &str) -> Result<i64, String> {
    request[name].as_i64().ok_or(format!("no {name}"))
}
