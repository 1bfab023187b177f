//! A request whose response is pending.

use super::{McpClient, Message, RpcError, ToolReply};
use serde_json::{Value, json};

/// A request that was sent. Dropping it does not cancel it.
#[derive(Debug)]
pub struct Pending<'a> {
    client: &'a McpClient,
    id: Value,
}

impl<'a> Pending<'a> {
    pub(super) fn new(client: &'a McpClient, id: Value) -> Self {
        Self { client, id }
    }

    /// The request's JSON-RPC id.
    pub fn id(&self) -> &Value {
        &self.id
    }

    /// Whether the response has arrived.
    pub fn is_answered(&self) -> bool {
        let messages = self.client.wire.messages();
        messages
            .iter()
            .any(|message| message.is_answer_to(&self.id))
    }

    /// Waits for the response.
    pub async fn answer(&self) -> Result<Value, RpcError> {
        let what = format!("the answer to request {}", self.id);
        let answer = self
            .client
            .wait(&what, |messages| self.find_in(messages))
            .await;
        self.read(&answer)
    }

    /// Waits for the response without a limit; `None` if the server's output ended before.
    pub async fn answer_unless_ended(&self) -> Option<Result<Value, RpcError>> {
        let answer = self.client.wire.wait(|messages| self.find_in(messages));
        Some(self.read(&answer.await?))
    }

    fn find_in(&self, messages: &[Message]) -> Option<Value> {
        // Most messages are older than the response.
        let mut newest_first = messages.iter().rev();
        let answer = newest_first.find(|message| message.is_answer_to(&self.id));
        answer.and_then(Message::as_received).cloned()
    }

    fn read(&self, answer: &Value) -> Result<Value, RpcError> {
        match (answer.get("result"), answer.get("error")) {
            (Some(result), None) => Ok(result.clone()),
            (None, Some(error)) => Err(RpcError::from_json(error)),
            _ => panic!(
                "neither one result nor one error: {answer}\n{}",
                self.client.transcript()
            ),
        }
    }

    /// Waits for a tool's response; fails the test if it is a JSON-RPC error.
    pub async fn tool_reply(&self) -> ToolReply {
        match self.answer().await {
            Ok(result) => ToolReply::new(result),
            Err(error) => panic!("the call failed: {error}\n{}", self.client.transcript()),
        }
    }

    /// Cancels the request, as MCP specifies.
    pub async fn cancel(&self) {
        let params = json!({"requestId": self.id, "reason": "the test says so"});
        self.client.notify("notifications/cancelled", params).await;
    }
}
